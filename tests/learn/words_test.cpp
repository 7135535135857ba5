#include <lessons/lab/learn/words.h>
#include <tests/catch.h>

// Where texts for people are broken.
namespace tinymp::test {
namespace {

using lab::fitted;

TEST_CASE("words: what fits stays, a long line goes on under its beginning, a long word stays whole") {
  CHECK(fitted("", 10) == "");
  CHECK(fitted("a  b\n\n  c", 10) == "a  b\n\n  c");
  CHECK(fitted("  one two three", 10) == "  one two\n  three");
  CHECK(fitted("see /a/path/that/is/long now", 10) == "see\n/a/path/that/is/long\nnow");
  CHECK(fitted("größer größer", 13) == "größer größer");  // columns, not bytes
  CHECK(fitted("größer größer", 12) == "größer\ngrößer");
}

TEST_CASE("words: the last column of a row goes on below itself, or below the row") {
  CHECK(fitted("  cut   is not here; fetch it\n", 18) == "  cut   is not\n        here;\n        fetch it\n");
  CHECK(fitted("linear  f32  (64, 10)  out weight, out bias", 40) ==
        "linear  f32  (64, 10)\n    out weight, out bias");
  CHECK(fitted("linear  f32  (64, 10)  out weight, out bias", 24) ==
        "linear  f32  (64, 10)\n    out weight, out bias");
  CHECK(fitted("linear  f32  (64, 10)  out weight, out bias", 16) ==
        "linear  f32\n(64, 10)\n    out weight,\n    out bias");
  CHECK(fitted("one two three  ", 8) == "one two\nthree  ");  // spaces at its end make no row
}

}  // namespace
}  // namespace tinymp::test
