// Exercise 9.1: in which format an op gets its operands.
//
// Every op asks before it does anything: in matmul(a, b) it is recast("matmul", {&a, &b}). The answer is
// either empty, `return {};`: the operands stay as they are, or Recast(tensors): all of them, in their order,
// in one format.
//
//     rule_of(op)      which list the op is on in this region:
//       RunsIn::narrow   the region's format, format_: a product with a long sum
//       RunsIn::wide     FP32: losses, exponentials, sums
//       RunsIn::widest   the format that holds all values of all operands: widest(operands), above
//       RunsIn::given    whatever it gets
//     has_f64(operands)   f64 is for gradient checks, and never cast: neither it nor what stands beside it
//     cast_of(x, format)  x in that format; x itself when it has it. A parameter's copy it makes only once
//
// Where the operands all have the format already the answer is empty. It has to be: an op that was handed
// other operands calls itself with them, and asks once more.
Recast Autocast::recast(std::string_view op, std::span<const Tensor* const> operands) {
  static_cast<void>(rule_of(op));
  static_cast<void>(has_f64(operands));
  // TODO: which format, and the operands in it.
  static_cast<void>(widest(operands));
  return {};
}
