#include <kernels/cpu/conv_reference.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {

void conv2d(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
            const Epilogue& then) {
  conv2d_reference(x, w, window, y, accumulate, then);
}
void conv2d_dx(const View& dy, const View& w, const Window& window, const View& dx, DType accumulate) {
  conv2d_dx_reference(dy, w, window, dx, accumulate);
}
void conv2d_dw(const View& x, const View& dy, const Window& window, const View& dw, DType accumulate) {
  conv2d_dw_reference(x, dy, window, dw, accumulate);
}

}  // namespace tinymp::kernels::cpu
