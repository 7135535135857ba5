#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/op_cases.h>

/// FP8 tensors meet ops: cast and reshape take them, all others refuse and say what to cast.
namespace tinymp::test {
namespace {

bool takes_float8(const std::string& op) { return op.starts_with("cast") || op == "reshape"; }

TEST_CASE("every op but cast and reshape refuses FP8, and says how to mend it") {
  int refused = 0;
  for (const OpCase& op : op_cases()) {
    for (const DType dtype : {DType::e4m3, DType::e5m2}) {
      const std::vector<Tensor> inputs = inputs_of(op, op.shapes[0], dtype);
      const std::string said = message_of([&] { static_cast<void>(op.call(inputs)); });
      INFO(op.name << " of " << dtype << ": " << said);
      if (takes_float8(op.name)) {
        CHECK(said == "(nothing was thrown)");
        continue;
      }
      ++refused;
      CHECK(said.find("cast()") != std::string::npos);
      CHECK(said.find(name_of(dtype)) != std::string::npos);
    }
  }
  CHECK(refused > 40);
}

TEST_CASE("cast and reshape keep FP8 values") {
  const Tensor x = Tensor::from({2, 3}, std::vector<float>{1, -2, 0.3f, 500, -0.0f, 0.001f});
  const Tensor e4 = cast(x, DType::e4m3), e5 = cast(x, DType::e5m2);
  CHECK(e4.dtype() == DType::e4m3);
  CHECK(size_of(e4.dtype()) == 1);
  const std::vector<float> e4_values = reshape(e4, {6}).to_floats(),
                           e5_values = cast(e5, DType::f32).to_floats();
  CHECK((e4_values[0] == 1 && e4_values[1] == -2 && e4_values[2] == 0.3125f && std::isnan(e4_values[3])));
  CHECK((std::signbit(e4_values[4]) && e4_values[5] == 0x1p-9f * 1));
  CHECK((e5_values[2] == 0.3125f && e5_values[3] == 512 && e5_values[5] == 0x1p-10f));
}

}  // namespace
}  // namespace tinymp::test
