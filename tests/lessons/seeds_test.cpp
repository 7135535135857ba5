#include <lessons/learn/commands/side_by_side.h>
#include <tests/catch.h>

namespace tinymp::test {

TEST_CASE("sentences of several runs become one, with their figures side by side") {
  CHECK(lab::side_by_side({"at most 1.01 times (1.05 allowed)", "at most 1.02 times (1.05 allowed)",
                           "at most NaN times (1.05 allowed)"}) ==
        "at most 1.01|1.02|NaN times (1.05 allowed)");
  CHECK(lab::side_by_side({"the same", "the same"}) == "the same");
  CHECK(lab::side_by_side({"one word", "two words more"}).empty());
}

}  // namespace tinymp::test
