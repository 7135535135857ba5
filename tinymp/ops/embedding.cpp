#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>
#include <limits>

namespace tinymp {
namespace {

/// The places of each token, in order: token v occurs at places[begins[v]] up to places[begins[v + 1]], which
/// is not included.
struct Occurrences {
  std::vector<std::int32_t> begins, places;

  Occurrences(std::span<const std::int32_t> tokens, std::int64_t words)
      : begins(static_cast<std::size_t>(words) + 1), places(tokens.size()) {
    for (const std::int32_t token : tokens) ++begins[static_cast<std::size_t>(token) + 1];
    for (std::size_t v = 1; v < begins.size(); ++v) begins[v] += begins[v - 1];
    std::vector<std::int32_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      std::int32_t& at = next[static_cast<std::size_t>(tokens[n])];
      places[static_cast<std::size_t>(at++)] = static_cast<std::int32_t>(n);
    }
  }
};

}  // namespace

//       y = table[tokens[n]]                       (N,D) out of (V,D)
//  dtable = sum of dy over the n of each token     (V,D)
Tensor embedding(const Tensor& table, std::span<const std::int32_t> tokens) {
  if (const Recast as = recast("embedding", table)) return embedding(as[0], tokens);
  expect(table.shape().rank() == 2, "embedding: a table of shape ", table.shape(), "; it is (V,D)");
  expect(tokens.size() <= std::numeric_limits<std::int32_t>::max(), "embedding: ", tokens.size(),
         " tokens; at most 2^31 - 1 can be told apart");
  const std::int64_t words = table.shape()[0];
  for (const std::int32_t token : tokens) {
    expect(token >= 0 && token < words, "embedding: token ", token, " is not one of the ", words,
           " rows of the table");
  }
  Tensor y({static_cast<std::int64_t>(tokens.size()), table.shape()[1]}, table.dtype(), table.device());
  kernels::embedding(table.view(), Indices(tokens, table.device()).view(), y.view());
  const std::vector<std::int32_t> kept(tokens.begin(), tokens.end());
  return record("embedding", {table}, y, [table, kept](const Tensor& dy, const Needs&) {
    Tensor dtable = Tensor::like(table);
    const Occurrences found(kept, table.shape()[0]);
    const Indices begins(found.begins, table.device()), places(found.places, table.device());
    kernels::embedding_backward(dy.view(), begins.view(), places.view(), dtable.view());
    return std::vector{dtable};
  });
}

}  // namespace tinymp
