#include <tests/cuda/device.h>
#include <tests/cuda/mixed.h>
#include <tinymp/ops/ops.h>
#include <tinymp/tensor/indices.h>
#include <functional>

/// Kernels that work along the rows or the columns of a matrix: their bits are those of the CPU, whether a row is whole
/// packs or not, in each format.
namespace tinymp::test {
namespace {

constexpr std::int64_t widths[] = {1, 7, 8, 19, 24, 136};

Tensor matrix(std::int64_t rows, std::int64_t columns, DType dtype, std::uint64_t seed) {
  return mixed(rows * columns, dtype, seed).viewed_as({rows, columns});
}

/// Calls check(dtype, columns) for each format and width.
void for_matrices(const std::function<void(DType, std::int64_t)>& check) {
  NEEDS_CUDA();
  for (const DType dtype : formats) {
    for (const std::int64_t columns : widths) {
      INFO(dtype << ", " << columns << " columns");
      check(dtype, columns);
    }
  }
}

/// What `kernel` writes into y:`shape`, on both devices. `in` are its arguments.
using Arguments = std::vector<Tensor>;
void expect_same(const std::function<void(const Arguments&, const View& y)>& kernel, const Arguments& in,
                 const Shape& shape, DType dtype) {
  Tensor result[2];
  for (const Device device : {Device::cpu, Device::cuda}) {
    Arguments there;
    for (const Tensor& x : in) there.push_back(x.to(device));
    const Tensor y(shape, dtype, device);
    kernel(there, y.view());
    result[device == Device::cuda] = y.to(Device::cpu);
  }
  REQUIRE(bits_equal(result[0], result[1]));
}

DType arithmetic(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

TEST_CASE("rows: one value of each row, spread, subtracted, divided by, and the largest") {
  for_matrices([](DType dtype, std::int64_t columns) {
    const Tensor x = matrix(37, columns, dtype, 1), by = mixed(37, dtype, 2);
    const Shape shape{37, columns};
    expect_same([](const Arguments& in, const View& y) { kernels::spread_rows(in[1].view(), y); }, {x, by},
                shape, dtype);
    expect_same(
        [](const Arguments& in, const View& y) { kernels::subtract_rows(in[0].view(), in[1].view(), y); },
        {x, by}, shape, dtype);
    expect_same(
        [](const Arguments& in, const View& y) { kernels::divide_rows(in[0].view(), in[1].view(), y); },
        {x, by}, shape, dtype);
    for (const Tensor& of : {x, drawn(shape, dtype, 3)})  // NaN in most rows, and in none
      expect_same([](const Arguments& in, const View& y) { kernels::row_max(in[0].view(), y); }, {of}, {37},
                  dtype);
  });
}

TEST_CASE("columns: parts of rows are copied, wherever they begin") {
  for_matrices([](DType dtype, std::int64_t columns) {
    for (const std::int64_t from : {0, 1, 8}) {
      for (const std::int64_t extra : {0, 3, 16}) {
        const Tensor x = matrix(5, from + columns + extra, dtype, 1);
        const auto copy = [&](const Arguments& in, const View& y) {
          kernels::fill(y, 2);  // the rest of y stays as it is
          kernels::copy_columns(in[0].view(), from, y, extra, columns);
        };
        expect_same(copy, {x}, {5, columns + extra}, dtype);
      }
    }
  });
}

TEST_CASE("columns: batch norm and layer norm, with gamma and beta of the format and of FP32") {
  for_matrices([](DType dtype, std::int64_t columns) {
    for (const DType of_gamma : {dtype, arithmetic(dtype)}) {
      const Shape shape{37, columns};
      const Tensor x = matrix(37, columns, dtype, 1), dy = matrix(37, columns, dtype, 2);
      const Tensor gamma = drawn({columns}, of_gamma, 3), beta = drawn({columns}, of_gamma, 4);
      const DType kept = arithmetic(dtype);
      const auto positive = [&](std::int64_t n) { return cast(exp(drawn({n}, DType::f32, 6)), kept); };
      const auto normalize = [](auto norm) {
        return [norm](const Arguments& in, const View& y) {
          norm(in[0].view(), {in[3].view(), in[4].view(), 1e-5}, in[1].view(), in[2].view(), y);
        };
      };
      expect_same(normalize(kernels::batch_norm),
                  {x, gamma, beta, drawn({columns}, kept, 5), positive(columns)}, shape, dtype);
      expect_same(normalize(kernels::layer_norm), {x, gamma, beta, drawn({37}, kept, 5), positive(37)}, shape,
                  dtype);
      const auto gradients = [](const Arguments& in, const View& dx) {
        kernels::batch_norm_dx(in[0].view(), {in[3].view(), in[4].view(), 1e-5}, in[1].view(), in[2].view(),
                               in[5].view(), in[6].view(), dx);
      };
      expect_same(gradients,
                  {x, gamma, dy, drawn({columns}, kept, 5), positive(columns), drawn({columns}, kept, 7),
                   drawn({columns}, kept, 8)},
                  shape, dtype);
    }
  });
}

TEST_CASE("columns: a norm refuses gamma of a third format") {
  NEEDS_CUDA();
  const Tensor x = matrix(3, 8, DType::f16, 1).to(Device::cuda), gamma({8}, DType::bf16, Device::cuda);
  const Tensor moments({8}, DType::f32, Device::cuda);
  CHECK_THROWS_AS(kernels::batch_norm(x.view(), {moments.view(), moments.view(), 1e-5}, gamma.view(),
                                      gamma.view(), Tensor::like(x).view()),
                  Error);
}

TEST_CASE("rows: dropout, and the gradients of both losses") {
  for_matrices([](DType dtype, std::int64_t columns) {
    const Shape shape{37, columns};
    const Tensor x = matrix(37, columns, dtype, 1), target = matrix(37, columns, arithmetic(dtype), 2);
    const auto drop = [](const Arguments& in, const View& y) {
      kernels::dropout(in[0].view(), 0.3f, 7, in[1].view(), y);
    };
    expect_same(drop, {x, from({5}, DType::f64)}, shape, dtype);
    const Tensor dloss = cast(from({0.7}, DType::f64), arithmetic(dtype)).viewed_as({});
    const auto of_difference = [](const Arguments& in, const View& dx) {
      kernels::mse_backward(in[0].view(), in[1].view(), in[2].view(), dx);
    };
    expect_same(of_difference, {x, target, dloss}, shape, dtype);
    std::vector<std::int32_t> labels(37);
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::int32_t>(5 * i % static_cast<std::size_t>(columns));
    const Tensor logits = drawn(shape, dtype, 4), y = logits.to(Device::cuda);
    const Indices here(labels, Device::cpu), there(labels, Device::cuda);
    const Tensor top = drawn({37}, arithmetic(dtype), 5), sum = drawn({37}, arithmetic(dtype), 6);
    const auto of_logits = [&](const Arguments& in, const View& dx) {
      const Indices& at = in[0].device() == Device::cpu ? here : there;
      kernels::cross_entropy_backward(in[0].view(), at.view(), in[1].view(), in[2].view(), in[3].view(), dx);
    };
    expect_same(of_logits, {logits, top, sum, dloss}, shape, dtype);
  });
}

TEST_CASE("rows: softmax, its log, sums and moments, short rows and rows of several levels of sums") {
  NEEDS_CUDA();
  const auto check = [](const std::function<Tensor(const Tensor&)>& op, const Tensor& x) {
    REQUIRE(bits_equal(op(x), op(x.to(Device::cuda))));
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::f64}) {
    for (const Shape& shape : {Shape{5, 1}, Shape{3, 15}, Shape{2, 16}, Shape{33, 17}, Shape{2, 1024},
                               Shape{3, 1025}, Shape{2, 5000}, Shape{1, 1024 * 1024 + 5}}) {
      INFO(dtype << shape);
      const bool long_row = shape.cols() > 10'000;
      if (long_row && dtype != DType::f32) continue;
      for (const bool special : {false, true}) {
        const Tensor x = special ? mixed(shape.size(), dtype, 1).viewed_as(shape) : drawn(shape, dtype, 1);
        check([](const Tensor& t) { return softmax(t); }, x);
        check([](const Tensor& t) { return log_softmax(t); }, x);
        check([](const Tensor& t) { return row_sum(t); }, x);
        if (long_row) break;
      }
      const Tensor gamma = drawn({shape.cols()}, dtype, 2), beta = drawn({shape.cols()}, dtype, 3);
      const Tensor y = drawn(shape, dtype, 1);
      REQUIRE(bits_equal(layer_norm(y, gamma, beta),
                         layer_norm(y.to(Device::cuda), gamma.to(Device::cuda), beta.to(Device::cuda))));
    }
  }
}

TEST_CASE("columns: sums and batch norm, of one chunk of rows and of several") {
  NEEDS_CUDA();
  for (const DType dtype : formats) {
    for (const std::int64_t rows : {1, 127, 128, 129, 1000}) {
      INFO(dtype << ", " << rows << " rows");
      const Tensor x = drawn({rows, 19}, dtype, 1), there = x.to(Device::cuda);
      for (const Accumulation& how : {Accumulation{}, Accumulation{.format = DType::f16},
                                      Accumulation{.format = DType::f16, .chunk = 32}}) {
        const DType kept = dtype == DType::f64 ? DType::f64 : DType::f32;
        Tensor found[2][2];
        for (const Tensor& t : {x, there}) {
          Tensor* const to = found[t.device() == Device::cuda];
          to[0] = Tensor({19}, kept, t.device()), to[1] = Tensor({19}, kept, t.device());
          kernels::column_moments(t.view(), how, to[0].view(), to[1].view());
        }
        CHECK(bits_equal(found[0][0], found[1][0].to(Device::cpu)));
        CHECK(bits_equal(found[0][1], found[1][1].to(Device::cpu)));
      }
      Tensor sums[2];
      for (const Tensor& t : {x, there}) {
        Tensor& to = sums[t.device() == Device::cuda] = Tensor({19}, dtype, t.device());
        kernels::column_sums(t.view(), to.view());
      }
      CHECK(bits_equal(sums[0], sums[1].to(Device::cpu)));
    }
  }
}

}  // namespace tinymp::test
