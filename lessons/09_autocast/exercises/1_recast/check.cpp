// Exercise 9.1: every list, every mixture of formats. The oracle has lists of its own, and calls a format
// wide enough when it looks up, pair by pair, that it holds the other's values.

#include <lessons/09_autocast/exercises/1_recast/operands.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/amp/autocast_lists.h>
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
std::string names_of_answer(const std::vector<int>& formats) {
  std::string text;
  for (const int format : formats) {
    text += text.empty() ? "" : " ";
    text += format >= 0 && format <= static_cast<int>(bf16) ? name_of(static_cast<DType>(format))
                                                            : "an empty tensor";
  }
  return text.empty() ? "as they are" : text;
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

std::string why(const Question& q, const std::optional<DType>& right, const std::vector<int>& yours) {
  const bool f64_there = std::ranges::count(q.formats, f64) > 0;
  const bool uniform = std::ranges::all_of(yours, [&](int format) { return format == yours[0]; });
  if (q.excepted) return "Your code does not know the region's exception for this op; rule_of() does.";
  if (yours.empty() && q.runs_in == RunsIn::wide)
    return "Your code leaves the operands of an op on the FP32 list as they are: its results leave the range "
           "of 16 bits.";
  if (yours.empty()) return "Your code casts nothing, though the op does not want its operands as they are.";
  if (!right && f64_there)
    return "Your code casts f64. A gradient check in f64 would then check another function.";
  if (!right && q.runs_in == RunsIn::given)
    return "Your code casts for an op that takes what it gets. A cast here costs memory, and may cost "
           "digits.";
  if (!right)
    return "Your code hands back operands that all have the format already, where the answer is empty: an op "
           "that was handed operands asks once more, and this never ends.";
  if (yours.size() != q.formats.size())
    return "Your code leaves out some operands. All of them are handed back, in their order, those too that "
           "keep their format.";
  if (!uniform) return "Your code gives operands in several formats: the op will refuse them.";
  if (q.runs_in == RunsIn::widest)
    return "Your code gives another format where formats meet. There nothing may be lost: f16 beside f32, "
           "and f16 beside bf16, become f32.";
  if (q.runs_in == RunsIn::wide)
    return "Your code gives another format to an op on the FP32 list: sums and losses leave the range of 16 "
           "bits.";
  return "Your code gives another format to a product: it runs in the format of the region.";
}

/// Whole numbers that every format holds, no two alike.
std::vector<Operand> operands(Judge& judge, const std::vector<DType>& formats) {
  std::vector<Operand> all;
  auto value = static_cast<float>(1 + judge.draw_below(100));
  for (const DType format : formats) {
    all.push_back({format, {value, value + 1}});
    value += static_cast<float>(2 + judge.draw_below(40));
  }
  return all;
}

void expect_recast(Judge& judge, const Question& q, const std::vector<Operand>& operands, Message& reply) {
  std::vector<int> yours;
  std::vector<std::vector<float>> values;
  const auto found = reply.take<std::int64_t>();
  for (std::int64_t i = 0; i < found; ++i) {
    yours.push_back(reply.take<int>());
    values.push_back(reply.take_all<float>());
  }
  const std::optional<DType> right = right_format(q.runs_in, q.region, q.formats);
  const std::vector<int> expected =
      right ? std::vector(q.formats.size(), static_cast<int>(*right)) : std::vector<int>{};
  const auto told = [&] {
    return std::string("\n  ") + q.op + " of " + names(q.formats) + ", in a region of " +
           std::string(name_of(q.region)) + "\n  expected = " + shown(right, q.formats.size()) +
           "\n  yours    = " + names_of_answer(yours);
  };
  judge.expect(yours == expected, [&] { return why(q, right, yours) + told(); });
  for (std::size_t i = 0; i < yours.size(); ++i)
    judge.expect(std::ranges::equal(values[i], operands[i].values), [&] {
      return "Your code hands back operands in another order, or with other values." + told();
    });
}

/// A parameter, asked for twice: there is one copy of it.
void ask_for_parameter(Judge& judge) {
  const auto value = static_cast<float>(1 + judge.draw_below(200));
  const auto uses = judge.ask(Message().put(Asked::parameter).put(value)).take<Uses>();
  judge.expect(uses.copies == 1 && uses.are_one == 1 && uses.value == value, [&] {
    return "Your code casts a parameter anew for each use: cast_of() keeps the copy it made.\n  matmul of a "
           "parameter, twice\n  expected = 1 copy of it\n  yours    = " +
           std::to_string(uses.copies) + " that are kept";
  });
}

/// Every mixture of n formats.
void ask_all(Judge& judge, const char* op, RunsIn runs_in, DType region, std::size_t n,
             bool excepted = false) {
  constexpr std::array formats{f32, f16, bf16, f64};
  std::size_t mixtures = 1;
  for (std::size_t i = 0; i < n; ++i) mixtures *= formats.size();
  Message request;
  request.put(Asked::mixtures).put(region).put(excepted ? 1 : 0).put_text(op);
  std::vector<Question> questions;
  std::vector<std::vector<Operand>> all;
  for (std::size_t mixture = 0; mixture < mixtures; ++mixture) {
    std::vector<DType> of;
    for (std::size_t i = 0, rest = mixture; i < n; ++i, rest /= formats.size())
      of.push_back(formats[rest % formats.size()]);
    questions.push_back({op, runs_in, region, of, excepted});
    all.push_back(operands(judge, of));
    request.put_all(all.back());
  }
  Message reply = judge.ask(request, [&] {
    return std::string("  ") + op + " of " + std::to_string(n) + " operands, in a region of " +
           std::string(name_of(region));
  });
  for (std::size_t i = 0; i < questions.size(); ++i) expect_recast(judge, questions[i], all[i], reply);
}

}  // namespace

void check(Judge& judge) {
  for (const DType format : {f16, bf16})
    for (const std::size_t n : {2u, 1u, 3u})
      for (const List& list : lists)
        for (const char* const op : list.ops) ask_all(judge, op, list.runs_in, format, n);
  ask_for_parameter(judge);
  ask_all(judge, "exp", RunsIn::narrow, f16, 2, true);
  ask_all(judge, "matmul", RunsIn::wide, f16, 2, true);
  ask_all(judge, "relu", RunsIn::wide, f16, 1, true);
}

}  // namespace tinymp::exercise
