#include <kernels/formulas/rounded_update.h>
#include <lessons/12_rounding/exercises/1_stochastic_update/setting.h>
#include <lessons/lab/classroom/serve.h>

namespace tinymp::exercise {
namespace {

Words words(const WordQuestion& of) {
  const kernels::UpdateRounding how{
      .masters = Rounding::stochastic, .seed = of.seed, .same_words_each_step = of.same != 0};
  const kernels::UpdateWords all(how, of.step);
  return {all.master(of.place), all.weight(of.place)};
}

template <class T>
Moved move_in(const MoveQuestion& of) {
  const kernels::UpdateRounding how{.masters = static_cast<Rounding>(of.mode), .kahan = of.kahan != 0};
  const kernels::MovedWeight m = kernels::moved<T>(how, of.w, of.kept, of.update, of.random);
  return {m.next, m.compensation, m.underflowed, m.absorbed};
}
Moved move(const MoveQuestion& of) { return of.format == 0 ? move_in<half>(of) : move_in<bfloat16>(of); }

}  // namespace

/// The request: 0 and a list of words asked for, or 1 and a list of updates.
void serve(Message& request, Message& reply) {
  if (request.take<std::uint64_t>() == 0) return serve_each<WordQuestion>(request, reply, words);
  serve_each<MoveQuestion>(request, reply, move);
}

}  // namespace tinymp::exercise
