int launch();
int main() { return launch(); }
