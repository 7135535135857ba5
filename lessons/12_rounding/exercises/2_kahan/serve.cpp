#include <kernels/formulas/rounded_update.h>
#include <lessons/12_rounding/exercises/2_kahan/setting.h>
#include <lessons/lab/classroom/serve.h>

namespace tinymp::exercise {
namespace {

template <class T>
KahanAnswer answer_in(const KahanQuestion& of) {
  const kernels::MovedWeight m = kernels::moved_kahan<T>(of.w, of.kept, of.update);
  return {m.next, m.compensation, m.underflowed, m.absorbed};
}

}  // namespace

void serve(Message& request, Message& reply) {
  serve_each<KahanQuestion>(request, reply, [](const KahanQuestion& of) {
    return of.format == 0 ? answer_in<half>(of) : answer_in<bfloat16>(of);
  });
}

}  // namespace tinymp::exercise
