#include <tinymp/dist/tensors.h>

#include <tests/base/says.h>
#include <tests/dist/on_ranks.h>
#include <tinymp/dist/waits.h>

/// Matrices that go from rank to rank.
namespace tinymp::test {
namespace {

Tensor matrix(std::int64_t rows, std::int64_t columns, float first, DType dtype = DType::f32) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) values.push_back(first + static_cast<float>(i));
  return Tensor::from({rows, columns}, values, dtype);
}

void expect_matrix(const Tensor& x, std::int64_t rows, std::int64_t columns, float first, DType dtype) {
  expect(x.shape() == Shape{rows, columns} && x.dtype() == dtype, "it is ", x.dtype(), x.shape());
  expect(x.to_floats() == matrix(rows, columns, first).to_floats(), "it has other values");
}

TEST_CASE("tensor links: matrices of several kinds arrive with their formats, in order") {
  on_ranks(3, [](dist::Transport& ranks) {
    dist::TensorLinks links(ranks);
    if (ranks.rank() == 0) {
      for (const int i : {0, 1}) {
        links.send(1, 7, matrix(2, 3, static_cast<float>(10 * i)));
        links.send(1, 8, matrix(1 + i, 5, static_cast<float>(i), DType::f16));
      }
      links.send(2, 7, matrix(4, 1, 3));
      links.settle();
    } else if (ranks.rank() == 1) {
      const dist::Coming a = links.ask(0, 7, 2), b = links.ask(0, 8, 1);
      const dist::Coming c = links.ask(0, 7, 2), d = links.ask(0, 8, 2);
      expect_matrix(d.take(), 2, 5, 1, DType::f16);
      expect_matrix(c.take(), 2, 3, 10, DType::f32);
      expect_matrix(b.take(), 1, 5, 0, DType::f16);
      expect_matrix(a.take(), 2, 3, 0, DType::f32);
    } else {
      expect_matrix(links.ask(0, 7, 4).take(), 4, 1, 3, DType::f32);
    }
  });
}

TEST_CASE("tensor links: what is no matrix, or another one than before, is refused") {
  const dist::ThreadRanks threads(2);
  dist::TensorLinks links(threads.at(0));
  CHECK_SAYS("ranks exchange matrices", links.send(1, 0, Tensor::from({2}, std::vector<float>{1, 2})));
  links.send(1, 0, matrix(2, 3, 0));
  CHECK_SAYS("after one of 3 columns", links.send(1, 0, matrix(2, 4, 0)));
  CHECK_SAYS("after one of 3 columns", links.send(1, 0, matrix(2, 3, 0, DType::f16)));
}

TEST_CASE("watched ranks: the time of waiting adds up, and nothing else") {
  using std::chrono::milliseconds;
  on_ranks(2, [](dist::Transport& ranks) {
    dist::WatchedRanks watched(ranks);
    std::byte byte{};
    const std::span<std::byte> place(&byte, 1);
    for (int i = 0; i < 2; ++i) {
      if (ranks.rank() == 0) {
        std::this_thread::sleep_for(milliseconds(60));
        watched.exchange({{}, place}, {{}, {}});
      } else {
        watched.exchange({{}, {}}, {place, {}});
      }
    }
    const double least = ranks.rank() == 0 ? 0 : 0.1, most = ranks.rank() == 0 ? 0.05 : 60;
    expect(watched.waited() >= least && watched.waited() < most, "waited ", watched.waited(), " s");
  });
}

}  // namespace
}  // namespace tinymp::test
