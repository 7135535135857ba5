#include <tinymp/amp/autocast_lists.h>

#include <tests/catch.h>
#include <tests/op_cases.h>
#include <tinymp/amp/autocast.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

/// What autocast makes of every op of the library: a new op without a row here fails.
namespace tinymp::test {
namespace {

/// In -> computed in -> out, for three kinds of inputs; computed: the formats in which the tape saw the
/// inputs, in order, one word where they agree. "-" where the op has one input only.
struct Row {
  const char* from_f32;
  const char* from_f16;
  const char* first_f16;  ///< the first input is f16, the others are f32
};
const std::map<std::string, Row> expected{
    {"matmul", {"f16 -> f16", "f16 -> f16", "f16 -> f16"}},
    {"linear", {"f16 -> f16", "f16 -> f16", "f16 -> f16"}},
    {"conv2d", {"f16 -> f16", "f16 -> f16", "f16 -> f16"}},
    {"add_bias", {"f16 -> f16", "f16 -> f16", "f16 -> f16"}},
    {"matmul_transposed", {"f16 -> f16", "f16 -> f16", "f16 -> f16"}},
    {"attention", {"f16 -> f16", "f16 -> f16", "f16 -> f16"}},
    {"add_positions", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"gelu", {"f32 -> f32", "f16 -> f16", "-"}},
    {"add", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"batch_norm", {"f32 -> f32", "f16 -> f16", "f16 f32 f32 -> f16"}},
    {"exp", {"f32 -> f32", "f32 -> f32", "-"}},
    {"log", {"f32 -> f32", "f32 -> f32", "-"}},
    {"softmax", {"f32 -> f32", "f32 -> f32", "-"}},
    {"log_softmax", {"f32 -> f32", "f32 -> f32", "-"}},
    {"row_sum", {"f32 -> f32", "f32 -> f32", "-"}},
    {"layer_norm", {"f32 -> f32", "f32 -> f32", "f32 -> f32"}},
    {"subtract", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"multiply", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"concat_columns", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"embedding", {"f32 -> f32", "f16 -> f16", "-"}},
    {"columns", {"f32 -> f32", "f16 -> f16", "-"}},
    {"subtract_rows", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"divide_rows", {"f32 -> f32", "f16 -> f16", "f32 -> f32"}},
    {"dropout", {"f32 -> f32", "f16 -> f16", "-"}},
    {"row_max", {"f32 -> f32", "f16 -> f16", "-"}},
    {"pick", {"f32 -> f32", "f16 -> f16", "-"}},
    {"sum", {"f32 -> f32", "f32 -> f32", "-"}},
    {"mean", {"f32 -> f32", "f32 -> f32", "-"}},
    {"cross_entropy", {"f32 -> f32", "f32 -> f32", "-"}},
    {"mse", {"f32 -> f32", "f32 -> f32", "-"}},
    {"relu", {"f32 -> f32", "f16 -> f16", "-"}},
    {"sigmoid", {"f32 -> f32", "f16 -> f16", "-"}},
    {"tanh", {"f32 -> f32", "f16 -> f16", "-"}},
    {"scale", {"f32 -> f32", "f16 -> f16", "-"}},
    {"max_pool2d", {"f32 -> f32", "f16 -> f16", "-"}},
    {"avg_pool2d", {"f32 -> f32", "f16 -> f16", "-"}},
    {"global_avg_pool2d", {"f32 -> f32", "f16 -> f16", "-"}},
    {"subsample", {"f32 -> f32", "f16 -> f16", "-"}},
    {"reshape", {"f32 -> f32", "f16 -> f16", "-"}},
    {"cast to f16", {"f32 -> f16", "(nothing)", "-"}},
    {"cast to f32", {"(nothing)", "f16 -> f32", "-"}},
    {"cast to f64", {"f32 -> f64", "f16 -> f64", "-"}},
    {"cast to bf16", {"f32 -> bf16", "f16 -> bf16", "-"}},
};

/// "scale by a tensor" and "columns, all of them" are cases of one op, "cast to f16" one of its own.
std::string row_of(const OpCase& op) {
  return expected.contains(op.name) ? op.name : op.name.substr(0, op.name.find_first_of(" ,"));
}

std::string op_of(const OpCase& op) { return op.name.substr(0, op.name.find_first_of(" ,")); }

/// The last op that is not a cast, unless there is nothing else; a global pool ends with a reshape.
class LastOp final : public Observer {
 public:
  explicit LastOp(std::string wanted) : wanted_(std::move(wanted)) {}
  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override {
    if (op.name != wanted_) return;
    std::string formats;
    for (const Tensor& x : inputs) formats += concat(formats.empty() ? "" : " ", x.dtype());
    const auto same = [&](const Tensor& x) { return x.dtype() == inputs[0].dtype(); };
    if (std::ranges::all_of(inputs, same)) formats = name_of(inputs[0].dtype());
    text = concat(formats, " -> ", output.dtype());
  }
  std::string text = "(nothing)";

 private:
  std::string wanted_;
};

/// Of the case with the most inputs: concat_columns takes one, too.
const std::vector<Shape>& shapes_of(const OpCase& op) {
  return *std::ranges::max_element(op.shapes, {}, [](const auto& shapes) { return shapes.size(); });
}

std::string seen(const OpCase& op, DType first, DType others) {
  const std::vector<Shape>& shapes = shapes_of(op);
  std::vector<Tensor> inputs = inputs_of(op, shapes, others);
  inputs[0] = inputs_of(op, shapes, first)[0];
  const Autocast region(DType::f16);
  LastOp last(op_of(op));
  const Tape tape(&last);
  op.call(inputs);
  return last.text;
}

TEST_CASE("autocast: in -> computed -> out, of every op") {
  for (const OpCase& op : op_cases()) {
    INFO(op.name);
    const auto row = expected.find(row_of(op));
    REQUIRE(row != expected.end());
    CHECK(seen(op, DType::f32, DType::f32) == row->second.from_f32);
    CHECK(seen(op, DType::f16, DType::f16) == row->second.from_f16);
    const bool is_alone = shapes_of(op).size() == 1;
    CHECK(is_alone == (std::string(row->second.first_f16) == "-"));
    if (!is_alone) CHECK(seen(op, DType::f16, DType::f32) == row->second.first_f16);
  }
}

TEST_CASE("autocast: every op that ops.h declares has a rule, and no rule is for anything else") {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "../../tinymp/ops/ops.h");
  if (!in) SKIP_TEST("the sources do not lie where this test was compiled");
  const std::regex declaration(R"(^Tensor (\w+)\()");
  std::set<std::string> declared, ruled;
  std::smatch match;
  for (std::string line; std::getline(in, line);)
    if (std::regex_search(line, match, declaration)) declared.insert(match[1]);
  for (const AutocastRule& rule : autocast_rules()) {
    INFO(rule.op << " has two rules");
    CHECK(ruled.insert(rule.op).second);
  }
  for (const std::string& op : declared) {
    INFO(op << " is on no list: tinymp/amp/autocast_lists.cpp");
    CHECK(ruled.contains(op));
  }
  for (const std::string& op : ruled) {
    INFO("a rule for " << op << ", which ops.h does not declare");
    CHECK(declared.contains(op));
  }
  CHECK(declared.size() >= 20);
}

/// Writes down who asks, and changes nothing.
class Asked final : public CastPolicy {
 public:
  Asked() : outer_(set_cast_policy(this)) {}
  ~Asked() { set_cast_policy(outer_); }
  std::set<std::string> ops;

 private:
  Recast recast(std::string_view op, std::span<const Tensor* const>) override {
    ops.insert(std::string(op));
    return {};
  }
  std::shared_ptr<CastPolicy> kept() const override { return nullptr; }
  CastPolicy* outer_;
};

TEST_CASE("autocast: every op asks by the name that it has in ops.h, but cast and reshape") {
  for (const OpCase& op : op_cases()) {
    const std::vector<Tensor> inputs = inputs_of(op, op.shapes[0], DType::f32);
    const Asked asked;
    op.call(inputs);
    INFO(op.name);
    const bool is_silent = op_of(op) == "cast" || op_of(op) == "reshape";
    CHECK(asked.ops.contains(op_of(op)) == !is_silent);
  }
}

}  // namespace
}  // namespace tinymp::test
