#include <tinymp/amp/explain.h>
#include <map>

namespace tinymp {
namespace {

class Writer final : public Observer {
 public:
  explicit Writer(std::function<std::string(const Tensor&)> name) : name_(std::move(name)) {}

  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override {
    ExplainedOp found{.op = op.name, .out = output.dtype(), .sums = op.sums, .shape = output.shape()};
    bool shares = false;
    for (const Tensor& x : inputs) {
      found.in.push_back(format_in_product(x));
      if (const std::string name = name_of(x); !name.empty())
        found.names += (found.names.empty() ? "" : ", ") + name;
      shares = shares || x.view().memory == output.view().memory;
    }
    if (!shares) found.bytes = output.size() * static_cast<std::int64_t>(size_of(output.dtype()));
    if (op.name == "cast") names_[output.id()] = found.names;  // a copy has the name of its original
    kept_.push_back(output);
    ops.push_back(std::move(found));
    operands_.clear();
  }
  void narrowed(const Narrowed& t) override {
    const bool is_weight = t.kind == Narrowed::Kind::weights;
    const std::string weight = name_of(t.weight);
    ops.push_back({.op = "quantize",
                   .names = is_weight
                                ? weight
                                : concat(weight.substr(0, weight.rfind(' ')), " ", tinymp::name_of(t.kind)),
                   .in = {t.before.dtype()},
                   .out = t.after.dtype(),
                   .shape = t.before.shape(),
                   .bytes = t.after.size(),
                   .rounding = t.rounding});
    if (t.scale) ops.back().scale = static_cast<float>(t.scale.item());
    (is_weight ? weights_ : operands_)[t.before.id()] = t.after.dtype();
  }
  std::vector<ExplainedOp> ops;

 private:
  std::string name_of(const Tensor& x) const {
    const auto copied = names_.find(x.id());
    return copied != names_.end() ? copied->second : name_ ? name_(x) : "";
  }
  /// That of its copy in FP8 where the op takes that one. A weight becomes FP8 once, for all of its products.
  DType format_in_product(const Tensor& x) const {
    if (const auto found = operands_.find(x.id()); found != operands_.end()) return found->second;
    const auto weight = operands_.empty() ? weights_.end() : weights_.find(x.id());
    return weight == weights_.end() ? x.dtype() : weight->second;
  }
  std::function<std::string(const Tensor&)> name_;
  std::map<const void*, std::string> names_;
  std::map<const void*, DType> operands_, weights_;  ///< what became FP8: for the next op, for all
  std::vector<Tensor> kept_;  ///< keeps the results alive, so that no two have the same id
};

}  // namespace

std::vector<ExplainedOp> explain(const std::function<Tensor()>& program,
                                 const std::function<std::string(const Tensor&)>& name) {
  Writer writer(name);
  const Tape tape(&writer);
  program();
  return std::move(writer.ops);
}

std::vector<ExplainedOp> explain_step(const std::function<Tensor()>& program,
                                      const std::function<std::string(const Tensor&)>& name) {
  Writer writer(name);
  Tape tape(&writer);
  tape.backward(program());
  return std::move(writer.ops);
}

}  // namespace tinymp
