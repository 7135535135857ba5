#include <kernels/cuda/executor.h>
#include <kernels/executors.h>
#include <kernels/profile.h>
#include <tinymp/base/error.h>

/// The only switch on the device.
namespace tinymp::kernels {
namespace {

#if TINYMP_HAS_CUDA
#define TINYMP_ON_GPU(call) return cuda::call
#else  // executor() has found no GPU either
#define TINYMP_ON_GPU(call) throw MissingError("this build has no kernels for a GPU")
#endif

#if TINYMP_HAS_EMULATION
#define TINYMP_EMULATED(call) return emu::call
#else  // executor() has said so
#define TINYMP_EMULATED(call) throw MissingError("this build has no emulation of the GPU")
#endif

#define TINYMP_RUN(device, kernel, ...)                           \
  do {                                                            \
    const detail::TimedCall timed(#kernel, __VA_ARGS__);          \
    if ((device) == Device::cpu) return cpu::kernel(__VA_ARGS__); \
    switch (executor()) {                                         \
      case Executor::emulation:                                   \
        TINYMP_EMULATED(kernel(__VA_ARGS__));                     \
      case Executor::gpu:                                         \
        TINYMP_ON_GPU(kernel(__VA_ARGS__));                       \
    }                                                             \
  } while (false)

const bool registered = (register_device(Device::cuda, cuda_allocator), true);

}  // namespace

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate,
          const Epilogue& after) {
  TINYMP_RUN(c.device, gemm, a, ta, b, tb, c, accumulate, after);
}
void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  TINYMP_RUN(c.device, gemm_reference, a, ta, b, tb, c, accumulate);
}
void fill(const View& x, double value) { TINYMP_RUN(x.device, fill, x, value); }
void cast(const View& x, const View& y) { TINYMP_RUN(y.device, cast, x, y); }
void add(const View& a, const View& b, const View& y) { TINYMP_RUN(y.device, add, a, b, y); }
void subtract(const View& a, const View& b, const View& y) { TINYMP_RUN(y.device, subtract, a, b, y); }
void multiply(const View& a, const View& b, const View& y) { TINYMP_RUN(y.device, multiply, a, b, y); }
void accumulate(const View& x, const View& y) { TINYMP_RUN(y.device, accumulate, x, y); }
void scale(const View& x, double factor, const View& y) { TINYMP_RUN(y.device, scale, x, factor, y); }
void scale_by(const View& x, const View& factor, const View& y) {
  TINYMP_RUN(y.device, scale_by, x, factor, y);
}
void broadcast(const View& scalar, double divisor, const View& y) {
  TINYMP_RUN(y.device, broadcast, scalar, divisor, y);
}
void add_bias(const View& x, const View& bias, const View& y) { TINYMP_RUN(y.device, add_bias, x, bias, y); }
void column_sums(const View& x, const View& y) { TINYMP_RUN(y.device, column_sums, x, y); }
void unary(Unary f, const View& x, const View& y) { TINYMP_RUN(y.device, unary, f, x, y); }
void unary_backward(Unary f, const View& y, const View& dy, const View& dx) {
  TINYMP_RUN(dx.device, unary_backward, f, y, dy, dx);
}
void sum(const View& x, double divisor, const View& y) { TINYMP_RUN(y.device, sum, x, divisor, y); }
void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                   const View& row_log_sum, const View& loss) {
  TINYMP_RUN(loss.device, cross_entropy, logits, labels, row_top, row_log_sum, loss);
}
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                            const View& row_log_sum, const View& dloss, const View& dlogits) {
  TINYMP_RUN(dlogits.device, cross_entropy_backward, logits, labels, row_top, row_log_sum, dloss, dlogits);
}
void mse(const View& x, const View& target, const View& loss) {
  TINYMP_RUN(loss.device, mse, x, target, loss);
}
void mse_backward(const View& x, const View& target, const View& dloss, const View& dx) {
  TINYMP_RUN(dx.device, mse_backward, x, target, dloss, dx);
}
void column_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  TINYMP_RUN(x.device, column_moments, x, sums, mean, variance);
}
void batch_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  TINYMP_RUN(y.device, batch_norm, x, by, gamma, beta, y);
}
void batch_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  TINYMP_RUN(x.device, batch_norm_sums, x, by, dy, sums, dgamma, dbeta);
}
void batch_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy, const View& dgamma,
                   const View& dbeta, const View& dx) {
  TINYMP_RUN(dx.device, batch_norm_dx, x, by, gamma, dy, dgamma, dbeta, dx);
}
void conv2d(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
            const Epilogue& after) {
  TINYMP_RUN(y.device, conv2d, x, w, window, y, accumulate, after);
}
void conv2d_dx(const View& dy, const View& w, const Window& window, const View& dx, DType accumulate) {
  TINYMP_RUN(dx.device, conv2d_dx, dy, w, window, dx, accumulate);
}
void conv2d_dw(const View& x, const View& dy, const Window& window, const View& dw, DType accumulate) {
  TINYMP_RUN(dw.device, conv2d_dw, x, dy, window, dw, accumulate);
}
void max_pool2d(const View& x, const Window& window, const View& y) {
  TINYMP_RUN(y.device, max_pool2d, x, window, y);
}
void max_pool2d_backward(const View& x, const View& dy, const Window& window, const View& dx) {
  TINYMP_RUN(dx.device, max_pool2d_backward, x, dy, window, dx);
}
void avg_pool2d(const View& x, const Window& window, const View& y) {
  TINYMP_RUN(y.device, avg_pool2d, x, window, y);
}
void avg_pool2d_backward(const View& dy, const Window& window, const View& dx) {
  TINYMP_RUN(dx.device, avg_pool2d_backward, dy, window, dx);
}
void subsample(const View& x, std::int64_t stride, const View& y) {
  TINYMP_RUN(y.device, subsample, x, stride, y);
}
void subsample_backward(const View& dy, std::int64_t stride, const View& dx) {
  TINYMP_RUN(dx.device, subsample_backward, dy, stride, dx);
}
void row_sums(const View& x, const Accumulation& sums, const View& y) {
  TINYMP_RUN(y.device, row_sums, x, sums, y);
}
void spread_rows(const View& values, const View& y) { TINYMP_RUN(y.device, spread_rows, values, y); }
void row_max(const View& x, const View& y) { TINYMP_RUN(y.device, row_max, x, y); }
void row_max_backward(const View& x, const View& dy, const View& dx) {
  TINYMP_RUN(dx.device, row_max_backward, x, dy, dx);
}
void subtract_rows(const View& x, const View& by, const View& y) {
  TINYMP_RUN(y.device, subtract_rows, x, by, y);
}
void divide_rows(const View& x, const View& by, const View& y) {
  TINYMP_RUN(y.device, divide_rows, x, by, y);
}
void divide_rows_dby(const View& x, const View& by, const View& dy, const View& dby) {
  TINYMP_RUN(dby.device, divide_rows_dby, x, by, dy, dby);
}
void pick(const View& x, std::span<const std::int32_t> labels, const View& y) {
  TINYMP_RUN(y.device, pick, x, labels, y);
}
void pick_backward(const View& dy, std::span<const std::int32_t> labels, const View& dx) {
  TINYMP_RUN(dx.device, pick_backward, dy, labels, dx);
}
void softmax(const View& x, const View& y) { TINYMP_RUN(y.device, softmax, x, y); }
void softmax_backward(const View& y, const View& dy, const View& dx) {
  TINYMP_RUN(dx.device, softmax_backward, y, dy, dx);
}
void log_softmax(const View& x, const View& y) { TINYMP_RUN(y.device, log_softmax, x, y); }
void log_softmax_backward(const View& x, const View& dy, const View& dx) {
  TINYMP_RUN(dx.device, log_softmax_backward, x, dy, dx);
}
void row_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  TINYMP_RUN(x.device, row_moments, x, sums, mean, variance);
}
void layer_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  TINYMP_RUN(y.device, layer_norm, x, by, gamma, beta, y);
}
void layer_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  TINYMP_RUN(x.device, layer_norm_sums, x, by, dy, sums, dgamma, dbeta);
}
void layer_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy,
                   const Accumulation& sums, const View& dx) {
  TINYMP_RUN(dx.device, layer_norm_dx, x, by, gamma, dy, sums, dx);
}
void dropout(const View& x, float p, std::uint64_t seed, const View& step, const View& y) {
  TINYMP_RUN(y.device, dropout, x, p, seed, step, y);
}
void embedding(const View& table, std::span<const std::int32_t> tokens, const View& y) {
  TINYMP_RUN(y.device, embedding, table, tokens, y);
}
void embedding_backward(const View& dy, std::span<const std::int32_t> begins,
                        std::span<const std::int32_t> places, const View& dtable) {
  TINYMP_RUN(dtable.device, embedding_backward, dy, begins, places, dtable);
}
void copy_columns(const View& x, std::int64_t from, const View& y, std::int64_t to, std::int64_t count) {
  TINYMP_RUN(y.device, copy_columns, x, from, y, to, count);
}
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  TINYMP_RUN(gradients.device, unscale, gradients, scale, found, factor);
}
void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  TINYMP_RUN(x.device, clip, x, max_norm, factor, norm);
}
void begin_step(const UpdateRule& rule, Cell<const GradientCounts> found, bool skip_nonfinite,
                Cell<StepState> state, Cell<StepOutcome> report) {
  TINYMP_RUN(state.device, begin_step, rule, found, skip_nonfinite, state, report);
}
void update(const UpdateRule& rule, const UpdateArenas& arenas, Cell<const float> factor,
            Cell<const StepState> state, Cell<StepOutcome> report) {
  TINYMP_RUN(state.device, update, rule, arenas, factor, state, report);
}
void follow(const View& batch, double factor, double momentum, Cell<const StepOutcome> report,
            const View& running) {
  TINYMP_RUN(running.device, follow, batch, factor, momentum, report, running);
}
void update_scale(const LossScaling& policy, Cell<const GradientCounts> found, bool last,
                  Cell<ScaleState> state) {
  TINYMP_RUN(state.device, update_scale, policy, found, last, state);
}
void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts) {
  TINYMP_RUN(x.device, count_flushed, x, shadow, counts);
}

}  // namespace tinymp::kernels
