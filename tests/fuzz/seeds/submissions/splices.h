/**/ #include <x> /**/
    // \
{ }
    const char* a = R"x(
})x";
char c = '\'';
// <exercise x>
int f() {
  asm("nop");
  return 1'000;
}
// </exercise x>
% : define y ? ? /
