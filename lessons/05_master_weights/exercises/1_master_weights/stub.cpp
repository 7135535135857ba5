// Exercise 5.1: one step of n weights, at most 1024, from place `begin` of the arenas on.
//
// An optimizer keeps its values in arenas, one behind the other. Each arena has its own format:
//
//     arenas.gradients    the gradients of backward, multiplied by S, in FP16, BF16 or FP32;
//                         multiplied by `factor` they are the true gradients
//     arenas.moments[k]   k = 0 .. Rule::moment_count - 1: momentum, or Adam's two averages
//     arenas.master       the weights that a step updates: an FP32 copy, or the model's own weights if
//                         there is no copy
//     arenas.weights      the weights that the model computes with: the master, rounded. Without a copy it is
//                         the same memory as the master; storing it twice does no harm
//
// A step:  moments = rule(master, gradient, moments),  master = master - update,  weights = round(master).
//
// You can use (kernels/cpu/block.h, and lines further up in kernels/cpu/step.cpp):
//
//     Block<float> room;
//         a std::array of 1024 floats: room.data(), room[i]
//     const float* load(arena, begin, n, room)
//         the values in FP32: widened into `room`, or in the arena itself if it is FP32
//     float* target(arena, begin, room)
//         memory for new values in FP32: the arena itself if it is FP32, else `room`
//     store<float>(x, arena, begin, n)
//         rounds x (const float*) into the arena; does nothing if x is in the arena already
//
//     UpdateBlock b{n, w, g, factor, {}};
//         w, g: const float*, the FP32 values to update and their gradients
//     b.moments[k]
//         float*, k = 0 .. Rule::moment_count - 1. Set it before you call move_moments. Load the
//         old moments into a Block. Then call target with the same Block: the pointer that it
//         returns holds the old moments and takes the new ones
//     move_moments(rule, arenas, begin, b)
//         moves b.moments and stores them into arenas.moments
//     LostUpdates lost = move_weights(rule, state, b, format, next);
//         writes b.w - update into `next` (float*). If `format` (a DType) is narrow, it rounds the
//         update and then the difference. Returns what was lost. Call move_moments first
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
  // TODO: moments, the master, and its copy in the model.
  store<float>(b.w, arenas.weights, begin, n);
  return {};
}
