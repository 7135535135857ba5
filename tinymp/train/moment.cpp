#include <kernels/kernels.h>
#include <tinymp/train/moment.h>

namespace tinymp::train {

Moment moment_of(const RunningParts& running, std::int64_t step, Device where) {
  Moment moment{.step = step,
                .optimizer = running.optimizer.state(where),
                .scaler = running.scaler.state(),
                .scales = running.products.state(where),
                .loader = running.loader};
  for (const Tensor& buffer : running.model.buffers()) {
    moment.buffers.emplace_back(buffer.shape(), buffer.dtype(), where);
    kernels::cast(buffer.to(where).view(), moment.buffers.back().view());
  }
  return moment;
}

void restore(const Moment& moment, const nn::Model& model, Optimizer& optimizer, LossScaler& scaler,
             const Float8Products& products, data::Loader& loader) {
  const std::vector<Tensor> buffers = model.buffers();
  expect(buffers.size() == moment.buffers.size(), "restore: ", moment.buffers.size(),
         " buffers in the state and ", buffers.size(), " in ", model.name());
  optimizer.restore(moment.optimizer);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    kernels::cast(moment.buffers[i].to(buffers[i].device()).view(), buffers[i].view());
  scaler.restore(moment.scaler);
  products.restore(moment.scales);
  loader = moment.loader;
}

}  // namespace tinymp::train
