#include <tests/catch.h>
#include <tests/op_cases.h>
#include <filesystem>
#include <fstream>
#include <regex>

/// A new op without an entry in op_cases.h would be tested by nothing.
namespace tinymp::test {
namespace {

TEST_CASE("every op that ops.h declares has an entry in op_cases.h") {
  const std::filesystem::path header =
      std::filesystem::path(__FILE__).parent_path() / "../../tinymp/ops/ops.h";
  std::ifstream in(header);
  if (!in) SKIP_TEST("the sources do not lie where this test was compiled");
  const std::regex declaration(R"(^Tensor (\w+)\()");
  int found = 0;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, declaration)) continue;
    ++found;
    const std::string op = match[1];
    const bool has_entry = std::any_of(op_cases().begin(), op_cases().end(), [&](const OpCase& entry) {
      return entry.name == op || entry.name.rfind(op + " ", 0) == 0;  // "cast to f16" is an entry of cast
    });
    INFO(op << " has no entry in tests/op_cases.h");
    CHECK(has_entry);
  }
  CHECK(found >= 13);
}

}  // namespace
}  // namespace tinymp::test
