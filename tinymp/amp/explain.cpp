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
      found.in.push_back(x.dtype());
      if (const std::string name = name_of(x); !name.empty())
        found.names += (found.names.empty() ? "" : ", ") + name;
      shares = shares || x.view().memory == output.view().memory;
    }
    if (!shares) found.bytes = output.size() * static_cast<std::int64_t>(size_of(output.dtype()));
    if (op.name == "cast") names_[output.id()] = found.names;  // a copy has the name of its original
    kept_.push_back(output);
    ops.push_back(std::move(found));
  }
  std::vector<ExplainedOp> ops;

 private:
  std::string name_of(const Tensor& x) const {
    const auto copied = names_.find(x.id());
    return copied != names_.end() ? copied->second : name_ ? name_(x) : "";
  }
  std::function<std::string(const Tensor&)> name_;
  std::map<const void*, std::string> names_;
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

}  // namespace tinymp
