#include <lessons/lab/clinic/two_heads.h>

namespace tinymp::clinic {

TwoHeads::TwoHeads(const std::vector<std::int64_t>& widths, const Recipe& recipe, Rng& rng)
    : widths_(widths),
      body_(widths.at(0), widths.at(1), recipe, rng),
      first_head_(widths.at(1), widths.at(2), recipe, rng),
      second_head_(widths.at(1), widths.at(2), recipe, rng) {}

Tensor TwoHeads::operator()(const Tensor& images) const {
  return (second_ ? second_head_ : first_head_)(body_(images, Activation::relu));
}

std::vector<nn::Parameter> TwoHeads::parameters() const {
  std::vector<nn::Parameter> all = body_.parameters("layer 1");
  nn::append(all, {first_head_.parameters("first head"), second_head_.parameters("second head")});
  return all;
}

std::string TwoHeads::name() const {
  return concat("two heads ", widths_[0], "-", widths_[1], "-", widths_[2]);
}

}  // namespace tinymp::clinic
