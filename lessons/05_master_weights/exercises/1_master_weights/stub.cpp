// Exercise 5.1: one step of n weights, at most 1024, from place `begin` of the arenas on.
//
// An optimizer keeps its values in arenas. An arena is one block of memory with one value for each weight. Each
// arena has its own format:
//
//     arenas.gradients    the gradients of backward, still multiplied by S, in FP16, BF16 or FP32;
//                         gradient * factor is the true gradient
//     arenas.moments[k]   k = 0 .. Rule::moment_count - 1: momentum, or Adam's two averages
//     arenas.master       the weights that a step updates: an FP32 copy, or the model's own weights if
//                         there is no copy
//     arenas.weights      the weights that the model computes with: the master, rounded. Without a copy
//                         both arenas are the same memory, and storing into both does no harm
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
//         float*, k = 0 .. Rule::moment_count - 1. Set b.moments[k] before you call move_moments.
//         Load the old moments into a Block, and call target with the same Block. target returns a
//         pointer to the old moments; move_moments overwrites them with the new moments
//     move_moments(rule, arenas, begin, b)
//         moves b.moments and stores them into arenas.moments
//     LostUpdates lost = move_weights(rule, state, b, format, next);
//         writes b.w - update into `next` (float*). If `format` (a DType) is narrow, move_weights
//         rounds the update and then the difference. Returns what was lost. Call move_moments first
//     arenas.master.dtype
//         a DType: the format of an arena (a field, no function)
//
// A hard exercise: write the step for Rule::moment_count == 0 first, then add the moments.
//
// Return what was lost:  {.values = lost.values, .underflowed = lost.underflowed, .absorbed = lost.absorbed}
template <class Rule>
UpdateCounts update_block(const Rule&, const StepState&, const UpdateArenas& arenas, float factor,
                          std::int64_t begin, std::int64_t n) {
  Block<float> weights, gradients;
  const UpdateBlock b{
      n, load(arenas.weights, begin, n, weights), load(arenas.gradients, begin, n, gradients), factor, {}};
  // TODO: the moments, the master, and the weights of the model.
  store<float>(b.w, arenas.weights, begin, n);
  return {};
}
