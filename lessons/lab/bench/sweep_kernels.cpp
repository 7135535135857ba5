#include <fmt/format.h>
#include <kernels/kernels.h>
#include <lessons/lab/bench/sweep_kernels.h>
#include <tinymp/tensor/tensor.h>
#include <span>
#include <tuple>

namespace tinymp::lab::gpu_check {
namespace {

using kernels::Trans;

/// A convolution of a model: images of side x side pixels.
struct Convolution {
  const char* what;
  std::int64_t batch, side, inputs, outputs, window, stride, padding;
};
constexpr Convolution of_lenet[] = {{"LeNet, first convolution", 64, 28, 1, 6, 5, 1, 2},
                                    {"LeNet, second convolution", 64, 14, 6, 16, 5, 1, 0}};
constexpr Convolution of_resnet[] = {{"ResNet-20, 3 to 16 channels", 128, 32, 3, 16, 3, 1, 1},
                                     {"ResNet-20, 16 channels", 128, 32, 16, 16, 3, 1, 1},
                                     {"ResNet-20, 16 to 32 channels", 128, 32, 16, 32, 3, 2, 1},
                                     {"ResNet-20, 32 channels", 128, 16, 32, 32, 3, 1, 1},
                                     {"ResNet-20, 32 to 64 channels", 128, 16, 32, 64, 3, 2, 1},
                                     {"ResNet-20, 64 channels", 128, 8, 64, 64, 3, 1, 1}};

Tensor filled(const Shape& shape, DType dtype) {
  Tensor x(shape, DType::f16, Device::cuda);
  kernels::fill(x.view(), 0.5);
  if (dtype == DType::f16) return x;
  Tensor narrow(shape, dtype, Device::cuda);
  kernels::cast(x.view(), narrow.view());
  return narrow;
}

void add_convolution(std::vector<SweepKernel>& list, const Convolution& c) {
  const kernels::Window window{
      .height = c.window, .width = c.window, .stride = c.stride, .padding = c.padding};
  const std::int64_t out = kernels::places(c.side, c.window, window);
  const Shape x{c.batch, c.side, c.side, c.inputs}, w{c.window, c.window, c.inputs, c.outputs},
      y{c.batch, out, out, c.outputs};
  const double work = static_cast<double>(c.batch * out * out * c.outputs) *
                      static_cast<double>(c.window * c.window * c.inputs);
  const auto add = [&](const char* direction, std::function<std::function<void()>()> prepare) {
    list.push_back({fmt::format("{}, {}", c.what, direction),
                    fmt::format("{},{},{}", c.batch * out * out, c.outputs, c.window * c.window * c.inputs),
                    "-", "f16", work, std::move(prepare)});
  };
  add("forward", [=] {
    const Tensor from = filled(x, DType::f16), by = filled(w, DType::f16), to = filled(y, DType::f16);
    return [=] { kernels::conv2d(from.view(), by.view(), window, to.view(), DType::f32, {}); };
  });
  if (c.inputs > 3)  // nobody asks for the gradient of the images
    add("dx", [=] {
      const Tensor from = filled(y, DType::f16), by = filled(w, DType::f16), to = filled(x, DType::f16);
      return [=] { kernels::conv2d_dx(from.view(), by.view(), window, to.view(), DType::f32, {}); };
    });
  add("dw", [=] {
    const Tensor from = filled(x, DType::f16), by = filled(y, DType::f16), to = filled(w, DType::f16);
    return [=] { kernels::conv2d_dw(from.view(), by.view(), window, to.view(), DType::f32, {}); };
  });
}

/// The products of attention, of so many heads of so many texts: those of the decoder among the models.
void add_attention(std::vector<SweepKernel>& list, std::int64_t texts, std::int64_t heads, std::int64_t steps,
                   std::int64_t depth) {
  const Shape x{texts, steps, heads * depth}, scores{texts, heads, steps, steps};
  const double work = static_cast<double>(texts * heads * steps) * static_cast<double>(steps * depth);
  const auto add = [&](const char* what, const std::string& sizes, const char* transposed, const Shape& a,
                       const Shape& b, const Shape& c, DType to) {
    const auto of = [](bool yes) { return yes ? Trans::yes : Trans::no; };
    list.push_back(
        {fmt::format("attention of {} heads, {}", texts * heads, what), sizes, transposed, "f16", work, [=] {
           const Tensor left = filled(a, DType::f16), right = filled(b, DType::f16), made = filled(c, to);
           return [=, ta = of(*transposed == 'a'), tb = of(*transposed == 'b')] {
             kernels::gemm_of_heads(left.view(), ta, right.view(), tb, made.view(), heads);
           };
         }});
  };
  const std::string of_scores = fmt::format("{0},{0},{1}", steps, depth),
                    of_values = fmt::format("{0},{1},{0}", steps, depth);
  add("scores", of_scores, "b", x, x, scores, DType::f32);
  add("output", of_values, "none", scores, x, x, DType::f16);
  add("dv", of_values, "a", scores, x, x, DType::f16);
}

void add_float8(std::vector<SweepKernel>& list, DType a, DType b, std::int64_t size) {
  const double n = static_cast<double>(size);
  for (const auto& [transposed, ta, tb] : {std::tuple{"none", Trans::no, Trans::no},
                                           {"a", Trans::yes, Trans::no},
                                           {"b", Trans::no, Trans::yes}}) {
    list.push_back({"square", fmt::format("{0},{0},{0}", size), transposed,
                    fmt::format("{}, {}", name_of(a), name_of(b)), n * n * n, [=, ta = ta, tb = tb] {
                      const Tensor left = filled({size, size}, a), right = filled({size, size}, b),
                                   to = filled({size, size}, DType::f16);
                      return [=] {
                        kernels::gemm(left.view(), ta, right.view(), tb, to.view(), DType::f32, {});
                      };
                    }});
  }
}

}  // namespace

std::vector<SweepKernel> sweep_kernels(bool emulated) {
  std::vector<SweepKernel> list;
  for (const auto& model :
       {std::span<const Convolution>(of_lenet), std::span<const Convolution>(of_resnet)}) {
    for (Convolution convolution : model) {
      if (emulated) {
        convolution.batch = 1;
        convolution.side = 8;
      }
      add_convolution(list, convolution);
    }
  }
  emulated ? add_attention(list, 1, 2, 16, 8) : add_attention(list, 32, 8, 128, 32);
  for (const std::int64_t size :
       emulated ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{1024, 4096, 8192}) {
    add_float8(list, DType::e4m3, DType::e4m3, size);
    add_float8(list, DType::e5m2, DType::e4m3, size);
  }
  return list;
}

}  // namespace tinymp::lab::gpu_check
