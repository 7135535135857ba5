#include <tests/base/child.h>
#include <tests/catch.h>
#include <tests/golden/golden.h>
#include <tinymp/base/parallel_for.h>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

/// Same seed, same bits. The table is written anew by  golden_hashes > tests/golden/hashes.txt  whenever a
/// change of the arithmetic is meant; a change that is not meant shows here.
namespace tinymp::test {
namespace {

std::vector<std::string> lines_of(const std::vector<GoldenRow>& rows) {
  std::vector<std::string> lines;
  for (const GoldenRow& row : rows) {
    std::ostringstream text;
    text << row;
    lines.push_back(text.str());
  }
  return lines;
}

const std::filesystem::path folder = std::filesystem::path(__FILE__).parent_path();

std::vector<std::string> committed() {
  std::vector<std::string> lines;
  std::ifstream in(folder / "hashes.txt");
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("golden: this build computes the committed table") {
  if (!std::filesystem::exists(folder)) SKIP_TEST("the sources do not lie where this test was compiled");
  const std::vector<std::string> expected = committed();
  const std::vector<std::string> got = lines_of(golden_rows());
  std::printf("rows: %zu\n", got.size());
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == expected[i]);
}

TEST_CASE("golden: 1, 2, 4 and 7 threads compute one table") {
  const int usual = threads();
  set_threads(1);
  const std::vector<std::string> alone = lines_of(golden_rows());
  for (const int count : {2, 4, 7}) {
    set_threads(count);
    INFO(count << " threads");
    CHECK(lines_of(golden_rows()) == alone);
  }
  set_threads(usual);
}

void check_isa(const std::string& isa) {
  const std::optional<ChildResult> result =
      run_again("TINYMP_ISA=" + isa, "golden: this build computes the committed table");
  if (!result) SKIP_TEST("this system does not say where the running program lies");
  if (result->output.find("which this processor cannot run") != std::string::npos) {
    SKIP_TEST("this processor does not have that instruction set");
  }
  INFO(result->output);
  CHECK(result->status == 0);
  CHECK(result->line("rows: ") == std::to_string(committed().size()));
}

TEST_CASE("golden: TINYMP_ISA=portable computes the committed table") { check_isa("portable"); }
TEST_CASE("golden: TINYMP_ISA=avx2 computes the committed table") { check_isa("avx2"); }
TEST_CASE("golden: TINYMP_ISA=avx512 computes the committed table") { check_isa("avx512"); }

TEST_CASE("golden: the runs are worth hashing") {
  const auto make = golden_optimizers()[0].second;
  std::vector<std::uint64_t> seen;
  auto recipes = golden_recipes();
  for (const auto& one : golden_rounding_recipes()) recipes.push_back(one);
  for (const auto& [name, recipe] : recipes) {
    const GoldenRow row = golden_training(name, make, recipe);
    INFO(name << ": " << row.taken << " steps taken, " << row.skipped << " skipped");
    CHECK(row.taken + row.skipped == 8);
    CHECK((row.skipped > 0) == (name == "fp16_dynamic"));
    CHECK(row.taken >= 3);
    CHECK(std::find(seen.begin(), seen.end(), row.hash) == seen.end());
    seen.push_back(row.hash);
  }
  // Diverging means NaN, and a NaN is hashed one way.
  Rng rng(42);
  const nn::Mlp model({golden_pixels, golden_hidden, golden_classes}, recipes::fp16_weights, rng);
  Sgd optimizer(tensors(model.parameters()), {.lr = 1e6f}, recipes::fp16_weights);
  Hash hash;
  GoldenRow row;
  golden_steps(model, optimizer, recipes::fp16_weights, golden_classifier_loss, hash, row);
  std::int64_t nans = 0;
  for (const float w : optimizer.weights().to_floats()) nans += std::isnan(w);
  CHECK(nans > 1000);
}

TEST_CASE("golden: the hash is FNV-1a, and takes every NaN for one") {
  const auto of = [](auto... values) {
    Hash hash;
    (hash.add(values), ...);
    return hash.value();
  };
  Hash text;
  for (const char c : {'f', 'o', 'o', 'b', 'a', 'r'}) text.add(static_cast<std::uint64_t>(c), 1);
  CHECK(text.value() == 0x85944171f73967e8);  // of the authors' test vectors
  CHECK(of(std::bit_cast<float>(0xffc00001u)) == of(std::bit_cast<float>(0x7fc00000u)));
  CHECK(of(half::from_bits(0xfe01)) == of(half::from_bits(0x7e00)));
  CHECK(of(std::bit_cast<double>(0xfff8000000000001ull)) == of(std::nan("")));
  CHECK(of(0.0f) != of(-0.0f));
  CHECK(of(1.0f, 2.0f) != of(2.0f, 1.0f));
  CHECK(of(1.0f) != of(1.0));
}

}  // namespace
}  // namespace tinymp::test
