// Exercise 9.2: x in another format, and parameters only once.
//
// A parameter, x.requires_grad() && x.is_leaf(), that is cast to the region's own format, format_, is cast
// when it is asked for first, and later uses get the same copy. Everything else, and every other format, is
// cast anew: cast(x, format).
//
//     copies_->of        std::map from x.id() to {parameter, copy}; the parameter is held, so that no other
//                        tensor can come to have its id
//     copies_->tape      the number of the tape for which the copies in `of` are good;
//                        0 where Tape::current() is nullptr
//     copies_->changes   likewise parameter_changes(), which grows with each step of an optimizer.
//                        Where one of the two is another now, all copies are forgotten
//     copies_->made      how many copies were made
//
// A copy is made, rounded, and put on the tape:
//
//     const Tensor copy(x.shape(), format, x.device());
//     kernels::cast(x.view(), copy.view());
//     record("cast", {x}, copy, [](const Tensor& dy, const Needs&) { return std::vector{dy}; });
//
// The gradients of all its uses are added up in copy's buffer. Left alone that is as narrow as the copy:
// 2048 + 1 + 1 is 2048 in FP16. So bind one of the parameter's own format before anybody uses the copy:
// copy.bind_grad(Tensor(x.shape(), x.dtype(), x.device())).
Tensor Autocast::cast_of(const Tensor& x, DType format) {
  // TODO: once is enough.
  return cast(x, format);
}
