#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>
#include <limits>

namespace tinymp {
//       y = table[tokens[n]]                       (N,D) out of (V,D)
//  dtable = sum of dy over the n of each token     (V,D)
Tensor embedding(const Tensor& table, std::span<const std::int32_t> tokens) {
  return resident::embedding(table, Indices(tokens, table.device()));
}

Tensor resident::embedding(const Tensor& table, const Indices& tokens) {
  if (const Recast as = recast("embedding", table)) return embedding(as[0], tokens);
  expect(table.shape().rank() == 2, "embedding: a table of shape ", table.shape(), "; it is (V,D)");
  expect(tokens.size() <= std::numeric_limits<std::int32_t>::max(), "embedding: ", tokens.size(),
         " tokens; at most 2^31 - 1 can be told apart");
  const std::int64_t words = table.shape()[0];
  expect(tokens.smallest() >= 0 && tokens.largest() < words, "embedding: token ",
         tokens.smallest() < 0 ? tokens.smallest() : tokens.largest(), " is not one of the ", words,
         " rows of the table");
  expect(tokens.device() == table.device(), "embedding: tokens on ", tokens.device(), " for a table on ",
         table.device());
  Tensor y({tokens.size(), table.shape()[1]}, table.dtype(), table.device());
  kernels::embedding(table.view(), tokens.view(), y.view());
  return record("embedding", {table}, y, [table, tokens](const Tensor& dy, const Needs&) {
    const Tensor dtable = table.place_for_grad();
    kernels::embedding_backward(dy.view(), tokens.view(), dtable.view());
    return std::vector{dtable};
  });
}

}  // namespace tinymp
