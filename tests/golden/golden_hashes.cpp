#include <tests/golden/golden.h>
#include <iostream>

/// Prints the golden table as this build computes it:  golden_hashes | diff tests/golden/hashes.txt -
int main() {
  try {
    for (const tinymp::test::GoldenRow& row : tinymp::test::golden_rows()) std::cout << row << '\n';
  } catch (const std::exception& error) {
    std::cerr << "golden_hashes: " << error.what() << '\n';
    return 1;
  }
  return std::cout.flush() ? 0 : 1;
}
