// Exercise 15.1: sixteen bits on the wire.
//
// N ranks share the micro-batches of a step. Each has the sum of its own gradients, and rounds it to the format of the wire,
// FP16 or BF16. There the sums of all ranks are added. What is wanted in the end is the mean over all micro-batches. Where is
// it divided?
//
// predivide_factor(divide, ranks): the number by which a rank divides its sum before it is rounded. N = ranks, 1 or more.
//
//     Divide::after    1: sum first, divide afterwards. The sum of N may overflow.
//     Divide::first    N: nothing overflows that is not too large already. Small gradients become 0.
//     Divide::split    f: either end of the range loses about half of log2 N powers of two. f begins at 1; while f divides N and
//                      N > f x f, it is doubled. So f is 2 for N = 2 and 3, 4 for 6, 8 and 16, and 1 for N = 1.
//
// put_on_wire(gradients, factor, wire): writes gradients / factor into `wire`, which is of the wire's format and as large. A value
// is divided in FP32 and then rounded, once: FP16 has no 100000, but it has 100000 / 8. kernels::scale(x, number, y) computes y =
// number x so. `gradients` may be FP32 or FP16.
//
// divisor_behind(micro_batches, factor): the sum that comes from the wire is too small by the factor already. By what number is it
// still to be divided for the mean over micro_batches? (It goes into unscale(), as one factor with 1/S, in FP32.)
double predivide_factor(Divide divide, int ranks) {
  return divide == Divide::after ? 1 : ranks;  // TODO: split
}

void put_on_wire(const View& gradients, double factor, const View& wire) {
  kernels::cast(gradients, wire);
  kernels::scale(wire, 1 / factor, wire);  // TODO: in FP16?
}

double divisor_behind(double micro_batches, double factor) {
  return micro_batches * factor;  // TODO
}
