// Exercise 9.2: x in another format, and parameters only once.
//
// A parameter is an x with x.requires_grad() && x.is_leaf(). If it is cast to the region's own format,
// format_, its first use makes the copy, and later uses get the same copy. Every other tensor, and every
// other format, is cast each time: cast(x, format).
//
//     copies_->by_id     std::map from x.id() to {parameter, copy}; it holds the parameter, so that no other
//                        tensor can get its id
//     copies_->tape      the number of the tape for which the copies in `by_id` are valid;
//                        0 if Tape::current() is nullptr
//     copies_->changes   the parameter_changes() for which they are valid; it grows with each step of an
//                        optimizer. If the tape or this number is another one now, clear all copies
//     copies_->made      how many copies were made
//
// Make a copy, round into it, and record it on the tape:
//
//     const Tensor copy(x.shape(), format, x.device());
//     kernels::cast(x.view(), copy.view());
//     record("cast", {x}, copy, [](const Tensor& dy, const Needs&) { return std::vector{dy}; });
//
// The gradients of all uses are added up in the copy's buffer. By default it is as narrow as the copy:
// 2048 + 1 + 1 is 2048 in FP16. So bind a buffer in the parameter's own format before the copy is used:
// copy.bind_grad(Tensor::like(x)).
Tensor Autocast::cast_of(const Tensor& x, DType format) {
  // TODO: once is enough.
  return cast(x, format);
}
