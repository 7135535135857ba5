#include <kernels/emu/counters.h>
#include <lessons/02_matmul/exercises/1_wmma_kernel/problem.h>
#include <lessons/lab/classroom/serve.h>
#include <algorithm>
#include <kernels/cuda/gemm/wmma_naive.cuh>
#include <memory>
#include <new>

namespace tinymp::exercise {
namespace {

template <class T>
std::unique_ptr<T[], void (*)(T*)> on_gpu(std::size_t size) {
  const auto free = [](T* p) { ::operator delete (p, std::align_val_t{64}); };
  return {static_cast<T*>(::operator new (size * sizeof(T), std::align_val_t{64})), +free};
}

template <class T>
auto on_gpu(std::span<const std::int8_t> numbers) {
  auto memory = on_gpu<T>(numbers.size());
  std::transform(numbers.begin(), numbers.end(), memory.get(),
                 [](std::int8_t x) { return T(static_cast<float>(x)); });
  return memory;
}

template <class T>
void multiply(const Problem& of, Message& request, Message& reply) {
  kernels::emu::machine::set_options({.order = of.order});
  const auto a = on_gpu<T>(request.all<std::int8_t>()), b = on_gpu<T>(request.all<std::int8_t>());
  const auto c = on_gpu<T>(of.size_of_c);
  std::fill_n(c.get(), of.size_of_c, T(static_cast<float>(untouched)));
  kernels::GemmProblem gemm = of.gemm;
  gemm.a = a.get(), gemm.b = b.get(), gemm.c = c.get();
  const std::uint64_t before = kernels::emu::machine::tile_products();
  kernels::emu::gemm_wmma_naive(gemm, nullptr);
  std::vector<float> out(of.size_of_c);
  std::transform(c.get(), c.get() + of.size_of_c, out.begin(), [](T x) { return static_cast<float>(x); });
  reply.put(kernels::emu::machine::tile_products() - before).put_all(out);
}

}  // namespace

void serve(Message& request, Message& reply) {
  const auto of = request.take<Problem>();
  of.gemm.format == kernels::Format::bf16 ? multiply<bfloat16>(of, request, reply)
                                          : multiply<half>(of, request, reply);
}

}  // namespace tinymp::exercise
