#include <tinymp/dist/tensors.h>

namespace tinymp::dist {
namespace {

std::span<std::byte> bytes_of(const Tensor& x) {
  return {x.view().data<std::byte>(), static_cast<std::size_t>(x.size()) * size_of(x.dtype())};
}

}  // namespace

std::unique_ptr<Exchange> TensorLinks::begin(int with, std::span<const std::byte> out,
                                             std::span<std::byte> in) {
  const auto count = static_cast<std::size_t>(ranks_.ranks()), at = static_cast<std::size_t>(with);
  Outgoing all_out(count);
  Incoming all_in(count);
  all_out.at(at) = out;
  all_in.at(at) = in;
  return ranks_.begin(all_out, all_in);
}

void TensorLinks::send(int to, int kind, const Tensor& x) {
  expect(x.shape().rank() == 2 && x.device() == Device::cpu, "TensorLinks::send: ", x.dtype(), x.shape(),
         " on ", x.device(), "; ranks exchange matrices that lie on the CPU");
  const auto [known, is_new] = sent_.try_emplace({to, kind});
  Columns& columns = known->second;
  if (is_new) {
    columns = {x.shape()[1], static_cast<std::int64_t>(x.dtype())};
    begin(to, std::as_bytes(std::span(&columns, 1)), {})->wait();
  }
  expect(columns.count == x.shape()[1] && columns.format == static_cast<std::int64_t>(x.dtype()),
         "TensorLinks::send: ", x.dtype(), x.shape(), " after one of ", columns.count, " columns");
  going_.emplace_back(x, begin(to, bytes_of(x), {}));
}

Coming TensorLinks::ask(int from, int kind, std::int64_t rows) {
  const auto [known, is_new] = received_.try_emplace({from, kind});
  Columns& columns = known->second;
  if (is_new) begin(from, {}, std::as_writable_bytes(std::span(&columns, 1)))->wait();
  const Tensor place({rows, columns.count}, static_cast<DType>(columns.format));
  return {place, begin(from, {}, bytes_of(place))};
}

void TensorLinks::settle() {
  for (const auto& [x, exchange] : going_) exchange->wait();
  going_.clear();
}

}  // namespace tinymp::dist
