// rejected: lets no gradient through
Tensor Autocast::cast_of(const Tensor& x, DType format) {
  const bool is_parameter = x.requires_grad() && x.is_leaf();
  if (x.dtype() == format || !is_parameter || format != format_) return cast(x, format);
  const std::uint64_t tape = Tape::current() == nullptr ? 0 : Tape::current()->number();
  if (copies_->tape != tape || copies_->changes != parameter_changes()) {
    copies_->of.clear();
    copies_->tape = tape;
    copies_->changes = parameter_changes();
  }
  const auto [place, is_new] = copies_->of.try_emplace(x.id());
  if (is_new) {
    const Tensor copy(x.shape(), format, x.device());
    kernels::cast(x.view(), copy.view());
    record("cast", {x}, copy, [](const Tensor& dy, const Needs&) { return std::vector{dy}; });
    place->second = {x, copy};
    ++copies_->made;
  }
  return place->second.copy;
}
