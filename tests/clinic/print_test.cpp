#include <lessons/lab/clinic/diagnosis.h>
#include <lessons/lab/clinic/print.h>
#include <lessons/lab/report/terminal.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <iostream>
#include <sstream>

namespace tinymp::test {
namespace {

using namespace clinic;

std::string ward() {
  const files::Folder folder;
  const files::Environment no_progress("TINYMP_PROGRESS", (folder / "progress.txt").c_str());
  std::ostringstream text;
  std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
  print_ward();
  std::cout.rdbuf(before);
  return text.str();
}

TEST_CASE("clinic: all patients and all causes are on a screen of 24 lines and 80 columns") {
  const std::string text = ward();
  std::istringstream lines(text);
  int count = 1;  // the shell's next prompt
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK(report::display_width(line) <= 80);
  }
  CHECK(count <= 24);
  for (const Patient& one : patients()) CHECK(text.find(one.title()) != std::string::npos);
  for (const Cause& cause : causes()) CHECK(text.find("  " + cause.id) != std::string::npos);
}

}  // namespace
}  // namespace tinymp::test
