#pragma once

#include <tests/catch.h>
#include <tests/op_cases.h>
#include <tests/ops/rounding.h>

/// One op against its oracle.
namespace tinymp::test {

/// Half the unit in the last place of what is stored on the way; FP32 and f64 are in the slack.
inline long double stored_roundoff(DType dtype) {
  return dtype == DType::f16 ? 0x1p-11L : dtype == DType::bf16 ? 0x1p-8L : 0;
}

inline bool as_exact(double got, const Exact& exact, DType in, DType out) {
  const double nearest = rounded_to(out, exact.value);
  if (exact.slack == 0) return same_bits(got, nearest);
  const long double bound = exact.slack * static_cast<long double>(unit_roundoff(in)) +
                            exact.stored * stored_roundoff(in) +
                            static_cast<long double>(spacing(out, nearest)) / 2;
  return std::fabs(static_cast<long double>(got) - exact.value) <= bound;
}

/// `arithmetic`: how many times the op's own slack is allowed.
inline void check_forward(const OpCase& op, const std::vector<Shape>& shapes, DType dtype,
                          Device device = Device::cpu, long double arithmetic = 1) {
  const std::vector<Tensor> inputs = inputs_of(op, shapes, dtype, device);
  const std::vector<Input> seen = as_oracle_inputs(inputs);
  const Tensor y = op.call(inputs);
  std::vector<Exact> exact = op.oracle(seen);
  for (Exact& e : exact) e.slack *= arithmetic;
  INFO(op.name << " of " << dtype << inputs[0].shape());

  CHECK(y.dtype() == op.output(dtype));
  CHECK(y.device() == device);
  REQUIRE(y.size() == static_cast<std::int64_t>(exact.size()));
  const std::vector<double> got = y.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (as_exact(got[i], exact[i], dtype, y.dtype())) continue;
    const auto expected = static_cast<double>(exact[i].value);
    INFO("value " << i << " is " << got[i] << ", exactly " << expected << ", off by " << got[i] - expected);
    CHECK(as_exact(got[i], exact[i], dtype, y.dtype()));
    break;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    CHECK(inputs[i].to_doubles() == seen[i].values);  // untouched
}

}  // namespace tinymp::test
