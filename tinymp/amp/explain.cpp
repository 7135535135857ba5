#include <tinymp/amp/explain.h>
#include <algorithm>
#include <array>
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
    if (op.name == "cast") names_[output.id()] = found.names;  // a copy is called as the original
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
  std::vector<Tensor> kept_;  ///< so that no two results have one id
};

constexpr std::size_t columns = 7;
using Line = std::array<std::string, columns>;

std::string formats(const std::vector<DType>& all) {
  std::string text;
  for (const DType dtype : all) text += concat(text.empty() ? "" : " ", dtype);
  return text;
}

}  // namespace

std::vector<ExplainedOp> explain(const std::function<Tensor()>& program,
                                 const std::function<std::string(const Tensor&)>& name) {
  Writer writer(name);
  const Tape tape(&writer);
  program();
  return std::move(writer.ops);
}

std::string table_of(const std::vector<ExplainedOp>& ops) {
  std::vector<Line> lines{{"op", "in", "out", "sums", "shape", "bytes", "of"}};
  std::int64_t bytes = 0;
  for (const ExplainedOp& op : ops) {
    lines.push_back({op.op, formats(op.in), concat(op.out), op.sums ? concat(*op.sums) : "", concat(op.shape),
                     concat(op.bytes), op.names});
    bytes += op.bytes;
  }
  lines.push_back({"all", "", "", "", "", concat(bytes), ""});
  Line widest;
  for (std::size_t c = 0; c < columns; ++c)
    for (const Line& line : lines) widest[c].resize(std::max(widest[c].size(), line[c].size()), ' ');
  std::string text;
  for (const Line& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string space(widest[c].size() - line[c].size(), ' ');
      row += c + 2 == columns ? space + line[c] : line[c] + space;  // bytes are numbers: flush right
      row += "  ";
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace tinymp
