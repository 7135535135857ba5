// Exercise 9.1: in which format an op gets its operands.
//
// Every op asks before it does anything: matmul(a, b) calls recast("matmul", {&a, &b}). The answer is either
// empty (`return {};`), and the operands stay as they are; or it is Recast(tensors): all operands, in their
// order, in one format.
//
//     rule_of(op)      which list the op is on in this region:
//       RunsIn::narrow   the region's format, format_: a product with a long sum
//       RunsIn::wide     FP32: losses, exponentials, sums
//       RunsIn::widest   the format that holds all values of all operands: widest(operands), above
//       RunsIn::given    the format of its operands
//     has_f64(operands)   f64 is for gradient checks. If one operand is f64, no operand is cast
//     cast_of(x, format)  x in that format; x itself if it has that format. It copies a parameter only once
//
// If all operands have the format already, the answer has to be empty: an op that gets new operands calls
// itself with them, and asks once more.
Recast Autocast::recast(std::string_view op, std::span<const Tensor* const> operands) {
  static_cast<void>(rule_of(op));
  static_cast<void>(has_f64(operands));
  // TODO: which format, and the operands in it.
  static_cast<void>(widest(operands));
  return {};
}
