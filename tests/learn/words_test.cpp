#include <lessons/lab/learn/words.h>
#include <tests/catch.h>
#include <tinymp/amp/explain.h>

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

TEST_CASE("words: a table of ops has no rule, its bytes stand flush right and are added up") {
  constexpr DType f16 = DType::f16, f32 = DType::f32;
  const std::vector<ExplainedOp> ops{{.op = "cast", .in = {f32}, .out = f16, .shape = {2, 4}, .bytes = 16},
                                     {.op = "linear",
                                      .names = "layer 1 weight, layer 1 bias",
                                      .in = {f16, f16, f16},
                                      .out = f16,
                                      .sums = f32,
                                      .shape = {2, 3},
                                      .bytes = 112}};
  CHECK(lab::ops_table(ops) == R"(op      in           out  sums  shape   bytes  of
cast    f32          f16        (2, 4)     16
linear  f16 f16 f16  f16  f32   (2, 3)    112  layer 1 weight, layer 1 bias
all                                       128
)");
}

TEST_CASE("words: a table of ops has columns for roundings and scales where a product is in FP8") {
  constexpr DType f16 = DType::f16, e4m3 = DType::e4m3;
  std::vector<ExplainedOp> ops{{.op = "quantize",
                                .names = "layer 2 activations",
                                .in = {f16},
                                .out = e4m3,
                                .shape = {2, 4},
                                .bytes = 8,
                                .rounding = Rounding::stochastic},
                               {.op = "linear",
                                .names = "layer 2 weight",
                                .in = {e4m3, e4m3},
                                .out = f16,
                                .sums = DType::f32,
                                .shape = {2, 3},
                                .bytes = 12}};
  CHECK(lab::ops_table(ops) == R"(op        in         out   sums  rounding    shape   bytes  of
quantize  f16        e4m3        stochastic  (2, 4)      8  layer 2 activations
linear    e4m3 e4m3  f16   f32               (2, 3)     12  layer 2 weight
all                                                     20
)");
  ops[0].scale = 0.25f;
  CHECK(lab::ops_table(ops) == R"(op        in         out   sums  rounding    scale  shape   bytes  of
quantize  f16        e4m3        stochastic   0.25  (2, 4)      8  layer 2 activations
linear    e4m3 e4m3  f16   f32                      (2, 3)     12  layer 2 weight
all                                                            20
)");
}

}  // namespace
}  // namespace tinymp::test
