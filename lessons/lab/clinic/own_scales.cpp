#include <lessons/lab/clinic/own_scales.h>
#include <algorithm>
#include <span>

namespace tinymp::clinic {

void roll_all_histories(const Float8Products& products, const std::vector<double>& places,
                        const EightBits& how) {
  const DelayedScaleState state = products.state();
  const auto tensors = static_cast<std::size_t>(state.history.shape()[0]),
             length = static_cast<std::size_t>(state.history.shape()[1]);
  expect(length >= 2, "roll_all_histories: a history of one step has one place, whether it rolled or not");
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::span<float> history(state.history.data<float>() + i * length, length);
    double& next = state.next.data<double>()[i];
    if (next == places[i]) {
      history[static_cast<std::size_t>(next)] = 0;
      next = next + 1 == static_cast<double>(length) ? 0 : next + 1;
    }
    const bool errors = i >= tensors / TensorScales::roles * TensorScales::errors;
    const float largest = EightBits::largest_of(errors ? how.backward : how.forward);
    state.scale.data<float>()[i] = torchao_current_scale(*std::ranges::max_element(history), largest);
  }
  products.restore(state);
}

}  // namespace tinymp::clinic
