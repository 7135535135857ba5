// Exercise 14.1: accumulate with the right mean.
//
// A step is cut into micro-batches, because memory holds the activations of one at a time. sizes[i] is the number of samples
// of micro-batch i, above 0; there is at least one.
//
//     backward_of(i, seed)        forward and backward of micro-batch i, once each, in order. Its loss is the mean over its own
//                                 samples; backward begins with `seed`. The gradients are added to those that are there
//                                 already. Returns the loss, one FP32 value.
//     scaler.seed(device)         the seed S
//     scaler.seed(device, share)  the seed share x S
//
// Return {loss, micro_batches}. Behind your code the step goes on: unscale() looks at the sum of the gradients once, for an
// infinity of any micro-batch, and gives the one factor 1 / (S x micro_batches), in FP32, by which the optimizer multiplies.
//
//   - The true gradient is the mean over all samples: each sample counts alike. Three samples with the gradients 4, 4, 4 and a
//     micro-batch of one with 16 give 7. The mean of the two means would be 10.
//   - Where all micro-batches are equally large, their gradients are added as they are, with the seed S: nothing is divided
//     before the sum, since small gradients of FP16 would become 0, and nothing multiplied, since large ones would overflow.
//     micro_batches is then their number.
//   - Where they are not, the first counts as usual: its seed is S. The others have sizes[i] / sizes[0] x S, so a smaller last
//     one has less than S, and micro_batches is the number of samples / sizes[0].
//   - There may be any number of micro-batches, of any number of samples each, on any device: the seeds lie on `device`.
//   - What is not finite goes into the sum as anything else does.
//   - loss: the mean over all samples. MeanLoss adds up losses: mean.add(loss, share of all samples), mean.value().
Accumulated accumulate(std::span<const std::int64_t> sizes, Device device, LossScaler& scaler,
                       const BackwardOf& backward_of) {
  const auto count = static_cast<double>(sizes.size());
  MeanLoss loss;
  for (std::size_t i = 0; i < sizes.size(); ++i)  // TODO: what if one micro-batch has fewer samples?
    loss.add(backward_of(static_cast<std::int64_t>(i), scaler.seed(device)), 1 / count);
  return {loss.value(), count};
}
