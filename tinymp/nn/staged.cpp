#include <tinymp/nn/segments.h>
#include <tinymp/nn/staged.h>

namespace tinymp::nn {

Tensor StagedModel::read(const Texts& texts) const {
  const auto of_block = [this, texts](std::int64_t i, const Tensor& x) { return block(i, x, texts); };
  return leave(run_blocks(blocks(), enter(texts), of_block), texts);
}

std::vector<Parameter> StagedModel::parameters() const {
  std::vector<Parameter> all;
  for (std::int64_t i = 0; i <= blocks() + 1; ++i) append(all, {part(i).parameters});
  return all;
}

std::vector<Tensor> StagedModel::buffers() const {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i <= blocks() + 1; ++i)
    for (const Tensor& buffer : part(i).buffers) all.push_back(buffer);
  return all;
}

}  // namespace tinymp::nn
