// Exercise 15.2: agree on a skip.
//
// Several processes train one model, and each looks at a part of the gradients alone. `found` is what this process has found
// there: how many `values` it looked at, and how many of these are `nonfinite`, `zeros` and `subnormals`. Next the optimizer skips
// the step if found.nonfinite is above 0, and S moves. If one process skips and another does not, their weights are those of two
// models from now on, and their S differ.
//
//     shards.sum(counts)    adds up, number by number, what all processes give, and puts the sums into `counts`, on all of them.
//                           `counts` may be an array: std::int64_t some[] = {1, 2}; shards.sum(some);
//
// Change `found` to what all have found together.
//
//   - sum() returns when all processes have called it. If one of them does not, the others wait, and are lost. If one calls it twice,
//     its second call meets the first of their next step. And this process does not know what the others have found. So when may it
//     leave the call out?
//   - The log tells shares of `values`: each of the four numbers is that of all.
void agree(const Shards& shards, kernels::GradientCounts& found) {
  static_cast<void>(shards);  // TODO: what have the others found?
  static_cast<void>(found);
}
