// Exercise 5.1: one step of n weights, at most 1024, from place `begin` of the arenas on.
//
// An optimizer keeps its values one behind the other in arenas, each in a format of its own:
//
//     arenas.gradients    what backward left, times S: FP16, BF16 or FP32;
//                         times `factor` they are the true ones
//     arenas.moments[k]   k = 0 .. Rule::moment_count - 1: momentum, or Adam's two averages
//     arenas.master       what is updated: FP32 as a rule, or as narrow as the model when there is no copy
//     arenas.weights      what the model computes with: the master, rounded. The same memory as the master
//                         when there is no copy: to store it twice does no harm
//
// A step:  moments = rule(master, gradient, moments),  master = master - update,  weights = round(master).
//
// You can use (kernels/cpu/block.h, and lines further up in kernels/cpu/step.cpp):
//
//     Block<float> room;
//         a std::array of 1024 floats: room.data(), room[i]
//     const float* load(arena, begin, n, room)
//         these values in FP32: widened into `room`, or where they lie if they are FP32
//     float* target(arena, begin, room)
//         where to write these values in FP32: their own memory if they are FP32, else `room`
//     store<float>(x, arena, begin, n)
//         rounds x (const float*) into the arena; does nothing if x lies there
//
//     UpdateBlock b{n, w, g, factor, {}};
//         w, g: const float*, the FP32 values to update and their gradients
//     b.moments[k]
//         float*, k = 0 .. Rule::moment_count - 1: to be set before the moments move. It points
//         at the moments as they are, in a place for the new ones: load into a Block, and
//         target with the same Block
//     move_moments(rule, arenas, begin, b)
//         moves b.moments and stores them into arenas.moments
//     LostUpdates lost = move_weights(rule, state, b, format, next);
//         next (float*) = b.w - the rule's update, both rounded to `format` (a DType) when that
//         is narrow; says what was lost. The moments have moved before
//     arenas.master.dtype
//         a DType: the format of an arena (a field, no function)
//
// A hard exercise: get it right with Rule::moment_count == 0 first, then add the moments.
//
// Return what was lost:  {.values = lost.values, .underflowed = lost.underflowed, .absorbed = lost.absorbed}
template <class Rule>
UpdateCounts update_block(const Rule&, const StepState&, const UpdateArenas& arenas, float factor,
                          std::int64_t begin, std::int64_t n) {
  Block<float> weights, gradients;
  const UpdateBlock b{
      n, load(arenas.weights, begin, n, weights), load(arenas.gradients, begin, n, gradients), factor, {}};
  // TODO: moments, the master, the copy of it in the model.
  store<float>(b.w, arenas.weights, begin, n);
  return {};
}
