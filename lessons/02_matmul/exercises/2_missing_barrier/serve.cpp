#include <lessons/02_matmul/exercises/2_missing_barrier/problem.h>
#include <lessons/02_matmul/exercises/2_missing_barrier/watched.h>
#include <lessons/lab/classroom/serve.h>
#include <kernels/cuda/gemm/tiled.cuh>
#include <vector>

namespace tinymp::exercise {
namespace {

using kernels::Trans;

/// A race, and a kernel that hangs, become an answer.
template <class Launch>
void launched(Message& reply, const Launch& launch) {
  Went went = Went::well;
  std::string told;
  reads_of_nothing = -1;
  try {
    launch();
  } catch (const Race& race) {
    went = Went::into_a_race;
    told = race.told;
  } catch (const Error& error) {
    went = Went::into_an_error;
    told = error.what();
  }
  reply.put(went).put_text(told).put(reads_of_nothing);
}

/// Rows `ld` apart; element (row, col) of op(x).
std::vector<Watched> watched(int rows, int cols, int ld, Trans trans, char matrix) {
  std::vector<Watched> values(static_cast<std::size_t>(((trans == Trans::no ? rows : cols) + 17) * ld));
  for (Watched& value : values) value.set({});
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col)
      values[static_cast<std::size_t>(trans == Trans::no ? row * ld + col : col * ld + row)].set(
          {matrix, row, col});
  return values;
}

/// One block, since only threads of one block share memory.
void watch(const Problem& of, Message& reply) {
  using kernels::emu::operand;
  const std::vector<Watched> a = watched(of.gemm.M, of.gemm.K, of.gemm.lda, of.gemm.ta, 'a');
  const std::vector<Watched> b = watched(of.gemm.K, of.gemm.N, of.gemm.ldb, of.gemm.tb, 'b');
  std::vector<Watched> c = watched(of.gemm.M, of.gemm.N, of.gemm.ldc, Trans::no, 0);
  reads_of_shared = reads_of_others = {};
  ++launches;
  launched(reply, [&] {
    kernels::emu::launch<kernels::emu::tiled<Watched, float>>(
        1, kernels::emu::dim3(16, 16), 0, nullptr, operand<Watched>(a.data(), of.gemm.lda, of.gemm.ta),
        operand<Watched>(b.data(), of.gemm.ldb, of.gemm.tb), c.data(), of.gemm.ldc, of.gemm.M, of.gemm.N,
        of.gemm.K);
  });
  reply.put_all(std::span<const int>(reads_of_others));
}

template <class T>
std::vector<T> on_gpu(std::span<const std::int8_t> numbers) {
  std::vector<T> values;
  for (const std::int8_t x : numbers) values.push_back(T(static_cast<float>(x)));
  return values;
}

template <class T>
void multiply(const Problem& of, Message& request, Message& reply) {
  const std::vector<T> a = on_gpu<T>(request.all<std::int8_t>()), b = on_gpu<T>(request.all<std::int8_t>());
  std::vector<T> c(of.size_of_c, T(static_cast<float>(untouched)));
  kernels::GemmProblem gemm = of.gemm;
  gemm.a = a.data(), gemm.b = b.data(), gemm.c = c.data();
  launched(reply, [&] { kernels::emu::gemm_tiled(gemm, nullptr); });
  std::vector<float> values;
  for (const T x : c) values.push_back(static_cast<float>(x));
  reply.put_all(values);
}

}  // namespace

void serve(Message& request, Message& reply) {
  const auto of = request.take<Problem>();
  kernels::emu::machine::set_options({.order = of.order, .seed = of.seed});
  if (of.watched != 0) return watch(of, reply);
  switch (of.gemm.format) {
    case kernels::Format::f32:
      return multiply<float>(of, request, reply);
    case kernels::Format::f16:
      return multiply<half>(of, request, reply);
    case kernels::Format::bf16:
      return multiply<bfloat16>(of, request, reply);
  }
}

}  // namespace tinymp::exercise
