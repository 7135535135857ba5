#include <kernels/emu/chip.h>
#include <lessons/lab/bench/bits_blocks.h>
#include <lessons/lab/bench/check_bits.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/numeric/half.h>
#include <bit>
#include <cmath>
#include <fstream>

// The bits of tensor cores in ./learn gpu-check: an emulated chip stands for the GPU, and its own model or another for
// the one that is compared.
namespace tinymp::test {
namespace {

using namespace kernels;
using lab::gpu_check::Finding;
using lab::gpu_check::Kind;
using lab::gpu_check::State;
using Json = nlohmann::ordered_json;

struct ChipFor {
  explicit ChipFor(emu::machine::Chip chip) { emu::machine::use_chip(chip); }
  ~ChipFor() { emu::machine::use_chip(before); }
  ChipFor(const ChipFor&) = delete;
  emu::machine::Chip before = emu::machine::chip();
};

struct Checked {
  Finding finding;
  std::vector<Json> blocks;
};
Checked checked(std::optional<Gpu> model) {
  const files::Folder folder;
  const std::unique_ptr<bench::Executor> executor = bench::emulated_executor();
  Checked result{lab::gpu_check::compare_bits(*executor, model, {.scratch = folder.path, .part = "bits"}),
                 {}};
  std::ifstream in(folder.path / "bits_blocks.jsonl");
  for (std::string line; std::getline(in, line);) result.blocks.push_back(Json::parse(line));
  return result;
}

std::uint32_t number_in(const Json& hex) {
  return static_cast<std::uint32_t>(std::stoul(hex.get<std::string>(), nullptr, 16));
}

}  // namespace

TEST_CASE(
    "gpu-check, bits: every instruction on every kind of numbers has the bits of the chip's own model") {
  for (const Gpu gpu : {Gpu::h200, Gpu::ada, Gpu::a100}) {
    const ChipFor chip(gpu);
    const Checked result = checked(gpu);
    INFO(name_of(gpu) << ": " << result.finding.summary);
    CHECK(result.finding.state == State::good);
    CHECK(result.blocks.empty());
    REQUIRE(result.finding.data.size() == 48);  // 12 instructions, four kinds
    int refused = 0, compared = 0;
    for (const Json& row : result.finding.data) {
      refused += row.contains("refused");
      compared += row.value("mismatches", std::int64_t{-1}) == 0;
    }
    CHECK(refused == (gpu == Gpu::a100 ? 16 : 0));  // FP8
    CHECK(compared + refused == 48);
  }
}

TEST_CASE("gpu-check, bits: blocks that disagree are kept as hex, and hold what both computed") {
  const ChipFor chip(Gpu::h200);
  const Checked result = checked(Gpu::a100);
  CHECK(result.finding.state == State::bad);
  REQUIRE_FALSE(result.blocks.empty());
  const TensorCore theirs = tensor_core(Gpu::h200, Operand::fp16),
                   model = tensor_core(Gpu::a100, Operand::fp16);
  int recomputed = 0;
  for (const Json& block : result.blocks) {
    CHECK(block["d"] != block["model"]);
    if (block["a_format"] != "fp16" || block["sums"] != "f32") continue;
    std::vector<float> a, b;
    for (const Json& x : block["a"])
      a.push_back(static_cast<float>(half::from_bits(static_cast<std::uint16_t>(number_in(x)))));
    for (const Json& x : block["b"])
      b.push_back(static_cast<float>(half::from_bits(static_cast<std::uint16_t>(number_in(x)))));
    const auto c = std::bit_cast<float>(number_in(block["c"]));
    const auto n = static_cast<std::int64_t>(a.size());
    CHECK(std::bit_cast<std::uint32_t>(tensor_core_dot(theirs, a.data(), b.data(), n, c)) ==
          number_in(block["d"]));
    CHECK(std::bit_cast<std::uint32_t>(tensor_core_dot(model, a.data(), b.data(), n, c)) ==
          number_in(block["model"]));
    ++recomputed;
  }
  CHECK(recomputed > 10);
  CHECK(result.blocks.size() <= 48 * lab::gpu_check::most_blocks);
}

TEST_CASE("gpu-check, bits: without a model the first blocks of each row are kept") {
  const ChipFor chip(std::nullopt);
  const Checked result = checked(std::nullopt);
  CHECK(result.finding.state == State::left_out);
  CHECK(result.blocks.size() == 48 * lab::gpu_check::most_blocks);
  CHECK(result.blocks.front()["model"] == "");
  CHECK(result.finding.data[0]["no_model"] == "no model of this chip");
  CHECK(result.finding.table[1].back() == "no model of this chip");
}

TEST_CASE("gpu-check, bits: each kind of numbers holds what its name says") {
  for (const Operand operand : {Operand::fp16, Operand::bf16, Operand::e4m3, Operand::e5m2}) {
    INFO(name_of(operand));
    Rng rng(1);
    const TensorCore core = tensor_core(Gpu::h200, operand);
    const float smallest = std::ldexp(1.0f, core.smallest_exponent);
    const auto count = [&](Kind kind, auto&& holds) {
      int found = 0;
      for (const float x : lab::gpu_check::draw(rng, 4000, operand, kind, true).values) found += holds(x);
      return found;
    };
    CHECK(count(Kind::subnormal, [&](float x) { return x != 0 && std::fabs(x) < smallest; }) > 1000);
    CHECK(count(Kind::special, [](float x) { return std::isnan(x); }) > 20);
    CHECK((count(Kind::special, [](float x) { return std::isinf(x); }) > 20) == (operand != Operand::e4m3));
    CHECK(count(Kind::spread, [](float x) { return !std::isfinite(x); }) == 0);
    CHECK(count(Kind::large, [](float x) { return !std::isfinite(x); }) == 0);
  }
}

}  // namespace tinymp::test
