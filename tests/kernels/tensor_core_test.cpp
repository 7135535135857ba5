#include <kernels/numerics/tensor_core.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/gzip.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

/// The simulator of tensor cores: against blocks that real ones computed, and rule by rule.
namespace tinymp::test {
namespace {

using namespace kernels;
using Floats = std::vector<float>;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

float dot(const TensorCore& core, const Floats& a, const Floats& b, float c) {
  REQUIRE(a.size() == b.size());
  return tensor_core_dot(core, a.data(), b.data(), static_cast<std::int64_t>(a.size()), c);
}
/// The sum of terms: each times 1.
float sum(const TensorCore& core, const Floats& a, float c) {
  return dot(core, a, Floats(a.size(), 1.0f), c);
}

/// Mismatches in a file of recorded blocks: a, b, c and d as binary32 patterns in hex.
struct Recording {
  int blocks = 0, wrong = 0;
  std::string first;
};
Recording compare(const std::string& path, Gpu gpu, Operand operand, bool with_c) {
  const std::vector<std::uint8_t> bytes = data::read_maybe_gzip(path, "");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  Recording found;
  const TensorCore core = tensor_core(gpu, operand);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind('#', 0) == 0) continue;
    Floats w;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      w.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16))));
    const std::size_t K = w.size() / 2 - 1;
    const float c = with_c ? w[2 * K] : 0;
    const float d = tensor_core_dot(core, w.data(), w.data() + K, static_cast<std::int64_t>(K), c);
    ++found.blocks;
    if (bits_of(d) != bits_of(w.back()) && found.wrong++ == 0) found.first = line;
  }
  return found;
}

TEST_CASE("tensor core: all recorded blocks, bit for bit") {
  const char* data = std::getenv("TINYMP_DATA");
  const std::string folder = std::string(data == nullptr ? "." : data) + "/tensor_core/";
  if (!std::filesystem::exists(folder)) SKIP_TEST("no tensor_core/ in $TINYMP_DATA");
  struct Case {
    const char* file;
    Gpu gpu;
    Operand operand;
    bool with_c;
  };
  // Hopper's FP8 was recorded with an accumulator of 0, whatever the column says.
  for (const Case& recorded :
       {Case{"a100_fp16", Gpu::a100, Operand::fp16, true}, Case{"h100_fp16", Gpu::h100, Operand::fp16, true},
        Case{"h100_bf16", Gpu::h100, Operand::bf16, true},
        Case{"h100_e4m3", Gpu::h100, Operand::e4m3, false}}) {
    const Recording r =
        compare(folder + recorded.file + ".txt.gz", recorded.gpu, recorded.operand, recorded.with_c);
    INFO(recorded.file << ", the first wrong one: " << r.first);
    CHECK(r.blocks == 5000);
    CHECK(r.wrong == 0);
    CHECK(tensor_core(recorded.gpu, recorded.operand).evidence == Evidence::recorded);
  }
  // The comparison can fail: a block of another size is another sum.
  CHECK(compare(folder + "h100_fp16.txt.gz", Gpu::a100, Operand::fp16, true).wrong > 1000);
}

TEST_CASE("tensor core: terms are cut off after so many bits, towards zero") {
  struct Case {
    Gpu gpu;
    int fraction_bits;
  };
  for (const Case& gpu : {Case{Gpu::v100, 23}, Case{Gpu::a100, 24}, Case{Gpu::ada, 24}, Case{Gpu::h100, 25},
                          Case{Gpu::h200, 25}, Case{Gpu::b200, 25}}) {
    const TensorCore core = tensor_core(gpu.gpu, Operand::fp16);
    INFO(name_of(gpu.gpu));
    CHECK(core.fraction_bits == gpu.fraction_bits);
    // Beside a 1 that another term takes away, the last kept bit survives and the next does not.
    const float kept = std::ldexp(1.0f, -gpu.fraction_bits), lost = kept / 2;
    CHECK(dot(core, {1, -1, std::ldexp(1.0f, -12)}, {1, 1, kept * 0x1p12f}, 0) == kept);
    CHECK(dot(core, {1, -1, std::ldexp(1.0f, -12)}, {1, 1, lost * 0x1p12f}, 0) == 0);
    CHECK(dot(core, {1, -1, -std::ldexp(1.5f, -12)}, {1, 1, kept * 0x1p12f}, 0) == -kept);
  }
}

TEST_CASE("tensor core: the result is cut off too, where FP32 would round up") {
  const TensorCore core = tensor_core(Gpu::h100, Operand::fp16);
  const Floats a = {1, 0x1.8p-12f}, b = {1, 0x1p-12f};  // 1 + 1.5 * 2^-24
  CHECK(dot(core, a, b, 0) == 1);
  CHECK(std::fma(a[1], b[1], 1.0f) == 1 + 0x1p-23f);
  CHECK(dot(core, {-1, -0x1.8p-12f}, b, 0) == -1);
  CHECK(sum(core, {1, 0x1p-23f}, 0x1p-24f) == 1 + 0x1p-23f);
}

TEST_CASE("tensor core: sixteen small terms beside a large one vanish together") {
  Floats a(16, 0x1p-13f), b(16, 0x1p-13f);
  a[0] = b[0] = 1;
  const float all = dot(tensor_core(Gpu::h100, Operand::fp16), a, b, 0);  // 15 * 2^-26: each is below 2^-25
  CHECK(all == 1);
  const Floats exact(16, 0x1p-12f);
  CHECK(dot(tensor_core(Gpu::h100, Operand::fp16), exact, exact, 1) == 1 + 0x1p-20f);  // 16 * 2^-24 do not
}

TEST_CASE("tensor core: the exponent of a product is the sum of exponents, not its own") {
  // 1.5 * 1.5 = 2.25 counts as 2^0, so that 2^-25 is kept beside it; 2 * 1 counts as 2^1, and it is not.
  const TensorCore core = tensor_core(Gpu::h100, Operand::fp16);
  CHECK(dot(core, {1.5f, -2.25f, 0x1p-13f}, {1.5f, 1, 0x1p-12f}, 0) == 0);  // -2.25 * 1 counts as 2^1
  CHECK(dot(core, {1.5f, -1.5f, 0x1p-13f}, {1.5f, 1.5f, 0x1p-12f}, 0) == 0x1p-25f);
  // A subnormal has the format's smallest exponent: 2^-24 * 2^10 counts as 2^-14 * 2^10.
  CHECK(dot(core, {0x1p-24f, -0x1p-14f, 0x1p-15f}, {0x1p10f, 1, 0x1p-15f}, 0) == 0x1p-30f * 0);
  CHECK(dot(core, {0x1p-24f, -0x1p-14f, 0x1p-14f}, {0x1p10f, 1, 0x1p-14f}, 0) == 0x1p-28f);
}

TEST_CASE("tensor core: a longer sum goes block by block in the order of k, c first") {
  for (const Gpu gpu : {Gpu::v100, Gpu::a100, Gpu::ada, Gpu::h100, Gpu::b200}) {
    const TensorCore core = tensor_core(gpu, Operand::fp16);
    Rng rng(7);
    for (const std::size_t n : {1u, 3u, 4u, 5u, 8u, 15u, 16u, 17u, 64u, 77u}) {
      Floats a(n), b(n);
      for (float& x : a) x = static_cast<float>(half(rng.uniform(-2, 2)));
      for (float& x : b) x = static_cast<float>(half(rng.uniform(-2, 2)));
      float chained = 0.3f;
      for (std::size_t k = 0; k < n; k += static_cast<std::size_t>(core.terms)) {
        const std::size_t last = std::min(n, k + static_cast<std::size_t>(core.terms));
        Floats block_a(a.begin() + static_cast<std::ptrdiff_t>(k),
                       a.begin() + static_cast<std::ptrdiff_t>(last));
        Floats block_b(b.begin() + static_cast<std::ptrdiff_t>(k),
                       b.begin() + static_cast<std::ptrdiff_t>(last));
        block_a.resize(static_cast<std::size_t>(core.terms));  // zeros fill it up
        block_b.resize(static_cast<std::size_t>(core.terms));
        chained = dot(core, block_a, block_b, chained);
      }
      CHECK(bits_of(dot(core, a, b, 0.3f)) == bits_of(chained));
    }
  }
  CHECK(sum(tensor_core(Gpu::h100, Operand::fp16), {}, 0.3f) == 0.3f);
  // 2^24 + 1 + 1 is cut off in two blocks, and not in one.
  Floats apart(16, 0.0f), together(16, 0.0f);
  apart[0] = apart[8] = together[0] = together[1] = 1;
  CHECK(sum(tensor_core(Gpu::a100, Operand::fp16), apart, 0x1p24f) == 0x1p24f);
  CHECK(sum(tensor_core(Gpu::a100, Operand::fp16), together, 0x1p24f) == 0x1p24f + 2);
  CHECK(sum(tensor_core(Gpu::h100, Operand::fp16), apart, 0x1p24f) == 0x1p24f + 2);
}

TEST_CASE("tensor core: where nothing is lost the sum is exact") {
  struct Case {
    Gpu gpu;
    Operand operand;
  };
  for (const Case& pair :
       {Case{Gpu::v100, Operand::fp16}, Case{Gpu::a100, Operand::bf16}, Case{Gpu::ada, Operand::e4m3},
        Case{Gpu::ada, Operand::e5m2}, Case{Gpu::h200, Operand::e5m2}, Case{Gpu::b200, Operand::e4m3}}) {
    Rng rng(11);
    for (int round = 0; round < 200; ++round) {
      Floats a(40), b(40);
      float exact = 3;
      for (std::size_t k = 0; k < a.size(); ++k) {
        a[k] = static_cast<float>(rng.below(7)) - 3;
        b[k] = static_cast<float>(rng.below(7)) - 3;
        exact += a[k] * b[k];
      }
      REQUIRE(dot(tensor_core(pair.gpu, pair.operand), a, b, 3) == exact);
    }
  }
}

TEST_CASE("tensor core: a tile has the bits of its dot products") {
  Rng rng(7);
  const float strange[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 65504.0f, 0x1p-24f, -0x1.8p-20f};
  for (const Gpu gpu : {Gpu::v100, Gpu::a100, Gpu::ada, Gpu::h100, Gpu::b200}) {
    for (const Operand operand : {Operand::fp16, Operand::bf16, Operand::e5m2}) {
      for (const Accumulator accumulator : {Accumulator::f32, Accumulator::f16}) {
        for (const Instruction instruction : {Instruction::native, Instruction::mma_sync}) {
          TensorCore core{};
          try {
            core = tensor_core(gpu, operand, accumulator, instruction);
          } catch (const UsageError&) {
            continue;
          }
          for (int round = 0; round < 20; ++round) {
            const int M = 1 + static_cast<int>(rng.below(16)), N = 1 + static_cast<int>(rng.below(16)),
                      K = 1 + static_cast<int>(rng.below(16));
            const auto draw = [&](int size, float scale) {
              Floats x;
              for (int i = 0; i < size; ++i) {
                const auto one_of = rng.below(round < 10 ? 1'000'000 : 60);
                const float usual = scale * rng.uniform(-1, 1);
                x.push_back(round_to(operand == Operand::e5m2 ? Operand::fp16 : operand,
                                     one_of < std::size(strange) ? strange[one_of] : usual));
              }
              return x;
            };
            Floats a = draw(M * K, 8), b = draw(N * K, 0.25f);
            for (Floats* x : {&a, &b})
              for (float& value : *x) value = round_to(operand, value);
            if (round % 4 == 0) std::fill_n(a.begin(), K, 0.0f);  // a row, a column of zeros
            if (round % 4 == 1) std::fill_n(b.begin(), K, -0.0f);
            const Floats c = draw(M * N, round % 3 == 0 ? 1e-3f : 60000.0f);
            Floats d = c;
            tensor_core_tile(core, a.data(), b.data(), d.data(), M, N, K);
            for (int m = 0; m < M; ++m) {
              for (int n = 0; n < N; ++n) {
                const auto at = static_cast<std::size_t>(m * N + n);
                REQUIRE(bits_of(d[at]) ==
                        bits_of(tensor_core_dot(core, a.data() + m * K, b.data() + n * K, K, c[at])));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("tensor core: FP8 keeps 13 bits on Ada and Hopper, in the result too") {
  for (const Gpu gpu : {Gpu::ada, Gpu::h100, Gpu::h200}) {
    const TensorCore core = tensor_core(gpu, Operand::e4m3);
    CHECK(core.terms == (gpu == Gpu::ada ? 16 : 32));
    CHECK(dot(core, {1, 0x1p-7f}, {1, 0x1p-6f}, 0) == 1 + 0x1p-13f);
    CHECK(dot(core, {1, 0x1p-7f}, {1, 0x1p-7f}, 0) == 1);
    CHECK(sum(core, {1}, 0x1p-14f) == 1);
    CHECK(dot(core, {1, 1, 0x1p-7f}, {1, 1, 0x1p-6f}, 0) == 2);  // 14 bits after the leading one
  }
  CHECK(dot(tensor_core(Gpu::b200, Operand::e4m3), {1, 0x1p-9f}, {1, 0x1p-9f}, 0) == 1 + 0x1p-18f);
}

TEST_CASE("tensor core: FP8 by mma.sync is two blocks of FP16 from zero, and c is added afterwards") {
  for (const Gpu gpu : {Gpu::h100, Gpu::h200, Gpu::b200}) {
    const TensorCore core = tensor_core(gpu, Operand::e4m3, Accumulator::f32, Instruction::mma_sync);
    CHECK(core.evidence == Evidence::published);
    CHECK(dot(core, {1, 0x1p-7f}, {1, 0x1p-7f}, 0) == 1 + 0x1p-14f);
    CHECK(sum(core, {1}, 0x1.8p-24f) == 1 + 0x1p-23f);             // c to nearest
    CHECK(dot(core, {1, 0x1p-9f}, {1, 0x1p-9f}, -1) == 0x1p-18f);  // and apart
    CHECK(bits_of(sum(core, {INFINITY}, -INFINITY)) == 0x7fff'ffff);
    CHECK(sum(core, Floats(77, 1.0f), 3) == 80);
  }
  // In an FP16 accumulator the blocks show: beside 2048 two ones in one block make 2050; apart each is a tie.
  const TensorCore narrow = tensor_core(Gpu::h100, Operand::e4m3, Accumulator::f16, Instruction::mma_sync);
  const auto with_ones_at = [&](std::size_t i, std::size_t j) {
    Floats a(32, 0.0f), b(32, 1.0f);
    a[0] = 64;
    b[0] = 32;
    a[i] = a[j] = 1;
    return dot(narrow, a, b, 0);
  };
  for (const std::size_t i : {1u, 4u, 5u, 8u, 29u}) CHECK(with_ones_at(i, 12) == 2050);  // both in the first
  for (const std::size_t i : {2u, 3u, 6u, 7u, 31u}) CHECK(with_ones_at(i, 14) == 2050);  // both in the second
  for (const std::size_t i : {2u, 3u, 6u, 7u, 31u}) CHECK(with_ones_at(i, 12) == 2048);  // one in each
  CHECK(sum(narrow, {1}, 2048) == 2048);
  CHECK(tensor_core(Gpu::ada, Operand::e4m3, Accumulator::f32, Instruction::mma_sync).fraction_bits == 13);
  CHECK(tensor_core(Gpu::b200, Operand::e5m2).evidence == Evidence::assumed);
}

TEST_CASE("tensor core: an FP16 accumulator is rounded to nearest even, once a block") {
  const TensorCore core = tensor_core(Gpu::h100, Operand::fp16, Accumulator::f16);
  CHECK(sum(core, {1, 0x1p-11f}, 0) == 1);                       // a tie: to the even one
  CHECK(sum(core, {1, 0x1p-10f, 0x1p-11f}, 0) == 1 + 0x1p-9f);   // a tie: to the even one
  CHECK(sum(core, {1, 0x1p-11f, 0x1p-24f}, 0) == 1 + 0x1p-10f);  // just above it
  CHECK(sum(core, {65504, 15}, 0) == 65504);
  CHECK(sum(core, {65504, 16}, 0) == INFINITY);
  CHECK(sum(core, {65504, 65504, -65504}, 0) == 65504);  // what lies between has room
  CHECK(sum(core, {0x1p-24f}, 0) == 0x1p-24f);
  // Counting in ones stops at 2048, but 16 at a time go on.
  const Floats ones(4096, 1.0f);
  CHECK(sum(core, ones, 0) == 4096);
  CHECK(sum(core, Floats(1, 1.0f), 2048) == 2048);
  CHECK(sum(tensor_core(Gpu::v100, Operand::fp16, Accumulator::f16), Floats(8192, 1.0f), 0) == 8192);
}

TEST_CASE("tensor core: infinity, NaN and overflow") {
  const float nan = std::bit_cast<float>(0x7fc0'0000u);
  const TensorCore core = tensor_core(Gpu::a100, Operand::bf16);
  CHECK(sum(core, {INFINITY, 1}, 0) == INFINITY);
  CHECK(sum(core, {1, 1}, -INFINITY) == -INFINITY);
  CHECK(dot(core, {INFINITY}, {-INFINITY}, 0) == -INFINITY);
  for (const float d : {sum(core, {INFINITY, -INFINITY}, 0), dot(core, {INFINITY}, {0}, 0),
                        sum(core, {nan}, 0), sum(core, {1}, nan), sum(core, {INFINITY}, -INFINITY),
                        sum(core, {std::bit_cast<float>(0xffff'1234u)}, 0)})
    CHECK(bits_of(d) == 0x7fff'ffff);
  CHECK(dot(core, {0x1p127f}, {2}, 0) == INFINITY);
  CHECK(dot(core, {0x1p127f}, {-2}, 0) == -INFINITY);
  CHECK(sum(core, {0x1.fep127f}, 0x1.fffffep119f) == std::numeric_limits<float>::max());
  CHECK(dot(core, {0x1p127f, -0x1p127f}, {0x1p127f, 0x1p127f}, 0) == 0);  // finite terms, and they cancel
  CHECK(dot(core, {0x1p127f, -0x1p127f, 1}, {2, 2, 1}, 0) == 0);          // and swallow what is small
  CHECK(dot(core, Floats(9, 1), Floats(9, 1), INFINITY) == INFINITY);     // through a second block
}

TEST_CASE("tensor core: zeros, signs and subnormals") {
  const TensorCore core = tensor_core(Gpu::h100, Operand::bf16);
  CHECK(bits_of(sum(core, {1, -1}, 0)) == 0);
  CHECK(bits_of(sum(core, {-0.0f}, -0.0f)) == 0);
  CHECK(bits_of(sum(core, {1, -2}, 1)) == 0);
  CHECK(sum(core, {0x1p-133f}, 0) == 0x1p-133f);  // subnormal operands are kept
  CHECK(sum(core, {0x1p-133f, 0x1p-133f}, 0x1p-149f) == 0x1p-132f + 0x1p-149f);
  CHECK(dot(core, {0x1p-126f}, {0x1p-23f}, 0) == 0x1p-149f);    // subnormal results too
  CHECK(dot(core, {0x1.8p-126f}, {0x1p-23f}, 0) == 0x1p-149f);  // cut off
  CHECK(dot(core, {0x1p-126f}, {0x1p-126f}, 0) == 0);
  CHECK(sum(core, {0}, 0x1p-149f) == 0x1p-149f);
}

TEST_CASE("tensor core: what a GPU lacks is refused, naming what it has") {
  CHECK_SAYS("the tensor cores of v100 do not take bf16; they take fp16",
             tensor_core(Gpu::v100, Operand::bf16));
  CHECK_SAYS("the tensor cores of a100 do not take e4m3; they take fp16, bf16",
             tensor_core(Gpu::a100, Operand::e4m3));
  CHECK_THROWS_AS(tensor_core(Gpu::v100, Operand::e5m2), UsageError);
  CHECK_SAYS("FP32 only", tensor_core(Gpu::h100, Operand::bf16, Accumulator::f16));
  CHECK_SAYS("\"p100\" is not a GPU with a model; choose one of v100, a100, ada, h100, h200, b200",
             gpu_from_name("p100"));
  CHECK_SAYS("choose one of fp16, bf16, e4m3, e5m2", operand_from_name("fp32"));
  int pairs = 0;
  for (const Gpu gpu : {Gpu::v100, Gpu::a100, Gpu::ada, Gpu::h100, Gpu::h200, Gpu::b200}) {
    CHECK(gpu_from_name(name_of(gpu)) == gpu);
    for (const Operand operand : {Operand::fp16, Operand::bf16, Operand::e4m3, Operand::e5m2}) {
      CHECK(operand_from_name(name_of(operand)) == operand);
      float total = 0;
      try {
        total = sum(tensor_core(gpu, operand), {1, 2, 3}, 4);
      } catch (const UsageError&) {
        continue;
      }
      CHECK(total == 10);
      ++pairs;
    }
  }
  CHECK(pairs == 1 + 2 + 4 * 4);
}

TEST_CASE("tensor core: round_to") {
  CHECK(round_to(Operand::fp16, 1 + 0x1p-11f) == 1);
  CHECK(round_to(Operand::bf16, 1 + 0x1.8p-8f) == 1 + 0x1p-7f);
  CHECK(round_to(Operand::e4m3, 1.07f) == 1.125f);
  CHECK(round_to(Operand::e5m2, 1.07f) == 1);
  CHECK(std::isnan(round_to(Operand::e4m3, 1000)));
}

TEST_CASE("tensor core: FP8 of two formats: each operand has the exponent of its own format") {
  // The smallest subnormal of E4M3 counts as 2^-6, that of E5M2 as 2^-14: beside 2^-6 2^-14 the sum keeps 13 bits.
  const TensorCore mix = tensor_core_of_mix(Gpu::h100, Operand::e4m3, Operand::e5m2);
  CHECK(mix.smallest_exponent == -6);
  CHECK(mix.smallest_exponent_of_b == -14);
  CHECK(mix.evidence == Evidence::assumed);
  CHECK(tensor_core_of_mix(Gpu::h100, Operand::e4m3, Operand::e4m3).evidence == Evidence::recorded);
  CHECK(dot(mix, {0x1p-9f, 0x1p-2f}, {0x1p-16f, 0x1p-16f}, 0) == 0x1p-25f + 0x1p-18f);
  CHECK_THROWS_WITH(tensor_core_of_mix(Gpu::h100, Operand::e4m3, Operand::fp16),
                    "no tensor core multiplies e4m3 by fp16; operands have one format, or are e4m3 and e5m2");
}

TEST_CASE("tensor core: 14 bits and 22 bits of Hopper's FP8 sums are the same 13 after the point") {
  // 14 bits are the leading one and 13 behind it. 22 of the 32 bits of a float are its sign, its exponent and 13: of a c
  // that meets products of 0 the last 10 bits go. By mma.sync, which is another unit, all of c stays.
  const TensorCore native = tensor_core(Gpu::h100, Operand::e4m3);
  const TensorCore by_mma = tensor_core(Gpu::h100, Operand::e4m3, Accumulator::f32, Instruction::mma_sync);
  CHECK(native.fraction_bits == 13);
  Rng rng(5);
  const Floats zeros(32, 0.0f);
  for (int i = 0; i < 1000; ++i) {
    const float c = rng.uniform(-1000, 1000);
    CHECK(bits_of(dot(native, zeros, zeros, c)) == (bits_of(c) & 0xffff'fc00));
    CHECK(bits_of(dot(by_mma, zeros, zeros, c)) == bits_of(c));
  }
}

}  // namespace
}  // namespace tinymp::test
