// Exercise 9.1: every list, every mixture of formats. The oracle has lists of its own, and calls a format
// wide enough when it looks up, pair by pair, that it holds the other's values.

#include <lessons/classroom/judge.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <array>
#include <optional>

namespace tinymp::exercise {
namespace {

using enum DType;

struct List {
  RunsIn runs_in;
  std::array<const char*, 4> ops;
};
constexpr std::array lists{
    List{RunsIn::narrow, {"matmul", "linear", "conv2d", "add_bias"}},
    List{RunsIn::wide, {"exp", "cross_entropy", "softmax", "sum"}},
    List{RunsIn::widest, {"add", "multiply", "concat_columns", "divide_rows"}},
    List{RunsIn::given, {"batch_norm", "relu", "dropout", "max_pool2d"}},
};

bool holds(DType wide, DType narrow) { return wide == narrow || wide == f32; }

/// Nothing: they stay as they are.
std::optional<DType> right_format(RunsIn runs_in, DType region, const std::vector<DType>& formats) {
  if (runs_in == RunsIn::given || std::ranges::count(formats, f64) > 0) return {};
  std::vector<DType> choices{f16, bf16, f32};
  if (runs_in == RunsIn::narrow) choices = {region};
  if (runs_in == RunsIn::wide) choices = {f32};
  for (const DType choice : choices) {
    if (runs_in == RunsIn::widest &&
        !std::ranges::all_of(formats, [&](DType format) { return holds(choice, format); }))
      continue;
    if (std::ranges::all_of(formats, [&](DType format) { return format == choice; })) return {};
    return choice;
  }
  return {};
}

std::string names(const std::vector<DType>& formats) {
  std::string text;
  for (const DType format : formats) text += (text.empty() ? "" : " ") + std::string(name_of(format));
  return text;
}

std::string shown(const std::optional<DType>& format, std::size_t n) {
  return format ? names(std::vector(n, *format)) : "as they are";
}

struct Question {
  const char* op;
  RunsIn runs_in;  ///< by the lists, or the region's exception
  DType region;
  std::vector<DType> formats;
  bool excepted = false;
};

std::string why(const Question& q, const std::optional<DType>& right, const std::vector<DType>& yours) {
  const bool f64_there = std::ranges::count(q.formats, f64) > 0;
  const bool uniform = std::ranges::all_of(yours, [&](DType format) { return format == yours[0]; });
  if (q.excepted) return "The region has an exception for this op; rule_of() knows it.";
  if (yours.empty() && q.runs_in == RunsIn::wide)
    return "The op is on the FP32 list, and gets what it is given: its results leave the range of 16 bits.";
  if (yours.empty()) return "Nothing was cast, though the op does not want its operands as they are.";
  if (!right && f64_there) return "f64 was cast. A gradient check in f64 would then check another function.";
  if (!right && q.runs_in == RunsIn::given)
    return "The op takes what it gets. A cast here costs memory, and may cost digits.";
  if (!right)
    return "All operands have the format already, and the answer is not empty: an op that was handed "
           "operands "
           "asks once more, and this never ends.";
  if (yours.size() != q.formats.size())
    return "Some operands are missing. All of them are handed back, in their order, those too that keep "
           "their "
           "format.";
  if (!uniform) return "The operands come in several formats: the op will refuse them.";
  if (q.runs_in == RunsIn::widest)
    return "Where formats meet nothing may be lost: f16 beside f32, and f16 beside bf16, become f32.";
  if (q.runs_in == RunsIn::wide)
    return "The op is on the FP32 list: sums and losses leave the range of 16 bits.";
  return "The op is a product: it runs in the format of the region.";
}

void ask(Judge& judge, const Question& q) {
  std::vector<Tensor> operands;
  std::vector<const Tensor*> all;
  for (std::size_t i = 0; i < q.formats.size(); ++i) {
    const std::vector<float> values(2, static_cast<float>(i + 1));
    operands.push_back(Tensor::from({1, 2}, values, q.formats[i]));
  }
  for (const Tensor& x : operands) all.push_back(&x);
  const Recast found = cast_policy()->recast(q.op, all);
  const std::optional<DType> right = right_format(q.runs_in, q.region, q.formats);
  std::vector<DType> yours;
  for (const Tensor& x : found.all()) yours.push_back(x.dtype());
  const std::vector<DType> expected = right ? std::vector(q.formats.size(), *right) : std::vector<DType>{};
  const auto told = [&] {
    return std::string("\n  ") + q.op + " of " + names(q.formats) + ", in a region of " +
           std::string(name_of(q.region)) + "\n  expected = " + shown(right, q.formats.size()) +
           "\n  yours    = " + (yours.empty() ? "as they are" : names(yours));
  };
  judge.expect(yours == expected, [&] { return why(q, right, yours) + told(); });
  for (std::size_t i = 0; i < yours.size(); ++i)
    judge.expect(found[i].to_floats()[0] == static_cast<float>(i + 1),
                 [&] { return "The operands are in another order, or have other values." + told(); });
}

/// A parameter, asked for twice: there is one copy of it.
void ask_for_parameter(Judge& judge) {
  const Autocast region(f16);
  const std::vector<float> values(2, 0.1f);
  const Tensor x = Tensor::from({1, 2}, values), w = Tensor::from({1, 2}, values).set_requires_grad(true);
  const Tensor* const operands[]{&x, &w};
  const Recast first = cast_policy()->recast("matmul", operands);
  const Recast second = cast_policy()->recast("matmul", operands);
  judge.expect(region.casts_of_parameters() == 1 && first[1].id() == second[1].id(), [&] {
    return "A parameter is cast anew for each use: cast_of() keeps the copy it made.\n  matmul of a "
           "parameter, "
           "twice\n  expected = 1 copy of it\n  yours    = " +
           std::to_string(region.casts_of_parameters()) + " that are kept";
  });
}

/// Every mixture of n formats.
void ask_all(Judge& judge, const char* op, RunsIn runs_in, DType region, std::size_t n,
             bool excepted = false) {
  constexpr std::array formats{f32, f16, bf16, f64};
  std::size_t mixtures = 1;
  for (std::size_t i = 0; i < n; ++i) mixtures *= formats.size();
  for (std::size_t mixture = 0; mixture < mixtures; ++mixture) {
    std::vector<DType> of;
    for (std::size_t i = 0, rest = mixture; i < n; ++i, rest /= formats.size())
      of.push_back(formats[rest % formats.size()]);
    ask(judge, {op, runs_in, region, of, excepted});
  }
}

}  // namespace

void check(Judge& judge) {
  for (const DType format : {f16, bf16}) {
    const Autocast region(format);
    for (const std::size_t n : {2u, 1u, 3u})
      for (const List& list : lists)
        for (const char* const op : list.ops) ask_all(judge, op, list.runs_in, format, n);
  }
  ask_for_parameter(judge);
  const Autocast region(f16, {{"exp", RunsIn::narrow}, {"matmul", RunsIn::wide}, {"relu", RunsIn::wide}});
  ask_all(judge, "exp", RunsIn::narrow, f16, 2, true);
  ask_all(judge, "matmul", RunsIn::wide, f16, 2, true);
  ask_all(judge, "relu", RunsIn::wide, f16, 1, true);
}

}  // namespace tinymp::exercise
