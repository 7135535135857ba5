#include <kernels/cpu/cpu.h>
#include <kernels/kernels.h>

/// Where kernels for another device branch off. The CPU is the one device so far: a tensor cannot be made on
/// another, because nobody has registered an allocator for it (base/device.h).
namespace tinymp::kernels {

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  cpu::gemm(a, ta, b, tb, c, accumulate);
}
void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  cpu::gemm_reference(a, ta, b, tb, c, accumulate);
}
void fill(const View& x, double value) { cpu::fill(x, value); }
void cast(const View& x, const View& y) { cpu::cast(x, y); }
void add(const View& a, const View& b, const View& y) { cpu::add(a, b, y); }
void accumulate(const View& x, const View& y) { cpu::accumulate(x, y); }
void scale(const View& x, double factor, const View& y) { cpu::scale(x, factor, y); }
void broadcast(const View& scalar, double divisor, const View& y) { cpu::broadcast(scalar, divisor, y); }
void add_bias(const View& x, const View& bias, const View& y) { cpu::add_bias(x, bias, y); }
void column_sums(const View& x, const View& y) { cpu::column_sums(x, y); }
void unary(Unary f, const View& x, const View& y) { cpu::unary(f, x, y); }
void unary_backward(Unary f, const View& y, const View& dy, const View& dx) {
  cpu::unary_backward(f, y, dy, dx);
}
void sum(const View& x, double divisor, const View& y) { cpu::sum(x, divisor, y); }
void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                   const View& loss) {
  cpu::cross_entropy(logits, labels, row_log_sum, loss);
}
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                            const View& dloss, const View& dlogits) {
  cpu::cross_entropy_backward(logits, labels, row_log_sum, dloss, dlogits);
}
void mse(const View& x, const View& target, const View& loss) { cpu::mse(x, target, loss); }
void mse_backward(const View& x, const View& target, const View& dloss, const View& dx) {
  cpu::mse_backward(x, target, dloss, dx);
}
GradientScan scan(const View& gradients) { return cpu::scan(gradients); }
double sum_of_squares(const View& x, float factor) { return cpu::sum_of_squares(x, factor); }
FlushCounts count_flushed(const View& x, const View& shadow) { return cpu::count_flushed(x, shadow); }
UpdateCounts update(const UpdateRule& rule, const UpdateArenas& arenas, float factor) {
  return cpu::update(rule, arenas, factor);
}

}  // namespace tinymp::kernels
