#include <kernels/cuda/gemm/ladder.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <string>

namespace tinymp::kernels {
namespace {

std::size_t bytes_of(Format format) { return format == Format::f32 ? 4 : 2; }

/// Sizes, strides and addresses.
bool fits(const RungRules& rung, const GemmProblem& p) {
  const auto multiple = [&](int size) { return size % rung.multiple_of == 0; };
  const auto stride = [&](int ld) {
    return static_cast<std::size_t>(ld) * bytes_of(p.format) % static_cast<std::size_t>(rung.stride_bytes) ==
           0;
  };
  const auto address = [&](const void* x) {
    return reinterpret_cast<std::uintptr_t>(x) % static_cast<std::uintptr_t>(rung.address_bytes) == 0;
  };
  return multiple(p.M) && multiple(p.N) && multiple(p.K) && stride(p.lda) && stride(p.ldb) && address(p.a) &&
         address(p.b);
}

/// 65535 blocks of the 16 columns that the narrowest tile has (rung naive).
constexpr int most_columns = 65535 * 16;

void check(const GemmProblem& p) {
  const int a_cols = p.ta == Trans::no ? p.K : p.M, b_cols = p.tb == Trans::no ? p.N : p.K;
  expect(p.M >= 0 && p.N >= 0 && p.K >= 0 && p.lda >= a_cols && p.ldb >= b_cols && p.ldc >= p.N, "gemm: (",
         p.M, ",", p.N, ") = (", p.M, ",", p.K, ")(", p.K, ",", p.N, ") with rows ", p.lda, ", ", p.ldb,
         " and ", p.ldc, " elements apart: rows must not overlap");
  expect(p.N <= most_columns, "gemm: a product of ", p.N,
         " columns: a grid has 65535 blocks along them, enough for ", most_columns, "; split the product");
}

}  // namespace

std::string_view name_of(Format format) {
  return format == Format::f32 ? "f32" : format == Format::f16 ? "f16" : "bf16";
}
std::string_view name_of(Sums sums) { return sums == Sums::f32 ? "f32" : "f16"; }

std::string refusal(const RungRules& rung, const GemmProblem& p, int architecture) {
  if (p.format == Format::f32 && !rung.f32) return "it multiplies FP16 and BF16 only";
  if (p.sums == Sums::f16 && p.format == Format::bf16) return "sums of BF16 products are kept in FP32 only";
  if (p.sums == Sums::f16 && p.format == Format::f32 && !rung.half_sums_of_f32) {
    return "sums are kept in FP16 for FP16 operands only";
  }
  const int needed = p.format == Format::bf16 ? rung.bf16_architecture : rung.architecture;
  if (architecture > rung.last_architecture)
    return concat("it is written for GPUs up to sm_", rung.last_architecture, ", and this GPU is sm_",
                  architecture);
  if (architecture >= needed) return "";
  return concat("with ", name_of(p.format), " it needs sm_", needed, ", and this GPU is sm_", architecture);
}

Rung rung_from_name(std::string_view name) {
  std::string choices;
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    if (ladder[i].name == name) return static_cast<Rung>(i);
    choices += (i == 0 ? "" : ", ") + std::string(ladder[i].name);
  }
  throw UsageError(concat("there is no rung '", name, "' on the GEMM ladder: choose one of ", choices));
}

Rung rung_for(Rung wanted, const GemmProblem& problem, int architecture) {
  check(problem);
  const std::string why = refusal(rules_of(wanted), problem, architecture);
  expect(why.empty(), "gemm: ", wanted, " does not take ", name_of(problem.format), " operands with sums in ",
         name_of(problem.sums), ": ", why, "; ask for a lower rung");
  auto found = static_cast<std::size_t>(wanted);
  while (found > 0 &&
         !(refusal(ladder[found], problem, architecture).empty() && fits(ladder[found], problem)))
    --found;
  expect(ladder[found].finishes || (problem.bias == nullptr && !problem.relu),
         "gemm: ", static_cast<Rung>(found), " adds no bias and has no relu; launch these behind it");
  return static_cast<Rung>(found);
}

int useful_parts(const GemmProblem& problem) {
  constexpr int blocks_wanted = 128, least_terms = 128;
  if (problem.sums != Sums::f32 || problem.M == 0 || problem.N == 0) return 1;
  const std::int64_t parts =
      std::min<std::int64_t>(blocks_wanted / split_tiles(problem), problem.K / least_terms);
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, 16));
}

Rung best_rung(const GemmProblem& problem, int architecture) {
  for (std::size_t i = ladder.size() - 1; i > 0; --i) {
    // The naive rung of tensor cores is there to be read: tiled ones beat it wherever they run.
    if (static_cast<Rung>(i) != Rung::wmma_naive && refusal(ladder[i], problem, architecture).empty()) {
      return rung_for(static_cast<Rung>(i), problem, architecture);
    }
  }
  return rung_for(Rung::naive, problem, architecture);
}

}  // namespace tinymp::kernels
