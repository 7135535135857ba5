#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>
#include <cmath>

namespace tinymp {
namespace {

using kernels::Trans;

void expect_texts(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& how) {
  expect_same_dtype("attention", q, k);
  expect_same_dtype("attention", q, v);
  const Shape &a = q.shape(), &b = k.shape();
  expect(a.rank() == 3 && b.rank() == 3 && b == v.shape() && a[0] == b[0] && a[2] == b[2], "attention: q", a,
         ", k", b, " and v", v.shape(), " do not fit: q is (B,T,H D), k and v are (B,S,H D)");
  expect(how.heads >= 1 && a[2] > 0 && a[2] % how.heads == 0, "attention: ", how.heads,
         " heads do not share the ", a[2], " columns of q", a, "; each takes as many");
  expect(!how.causal || a[1] == b[1], "attention: causal, with ", a[1], " queries and ", b[1],
         " keys a text; there must be as many");
}

void expect_lengths(const Tensor& k, const Indices& lengths) {
  expect(lengths.size() == k.shape()[0], "attention: ", lengths.size(), " lengths for ", k.shape()[0],
         " texts");
  expect(lengths.size() == 0 || (lengths.smallest() >= 0 && lengths.largest() <= k.shape()[1]),
         "attention: a length of ", lengths.smallest() < 0 ? lengths.smallest() : lengths.largest(),
         " for texts of ", k.shape()[1], " tokens");
  expect(lengths.device() == k.device(), "attention: lengths on ", lengths.device(), " for keys on ",
         k.device());
}

void expect_dropout(const Tensor& q, const AttentionOptions& how) {
  expect(how.dropout >= 0 && how.dropout < 1, "attention: dropout is ", how.dropout,
         "; it is a probability below 1");
  if (how.dropout == 0) return;
  expect(bool(how.step), "attention: dropout takes a step, by which its masks differ");
  expect_same_device("attention", q, how.step);
  expect(how.step.shape() == Shape{} && how.step.dtype() == DType::f64, "attention: the step is ",
         how.step.dtype(), how.step.shape(), "; it is one value in f64");
}

/// One call of attention: what forward and backward share.
struct Attention {
  AttentionOptions how;
  Shape scores;  ///< (B,H,T,S)
  double scale;  ///< 1 / sqrt D

  Attention(const Tensor& q, const Tensor& k, AttentionOptions options)
      : how(std::move(options)),
        scores{q.shape()[0], how.heads, q.shape()[1], k.shape()[1]},
        scale(1 / std::sqrt(static_cast<double>(q.shape()[2] / how.heads))) {}

  kernels::AttentionMask mask() const {
    return {.steps = scores[2],
            .rows_of_text = scores[1] * scores[2],
            .causal = how.causal,
            .lengths = how.lengths ? how.lengths->view().data() : nullptr};
  }
  Tensor product(const Tensor& a, Trans ta, const Tensor& b, Trans tb, const Shape& shape,
                 DType dtype) const {
    Tensor c(shape, dtype, a.device());
    kernels::gemm_of_heads(a.view(), ta, b.view(), tb, c.view(), how.heads);
    return c;
  }
  /// x itself without dropout.
  Tensor dropped(const Tensor& x) const {
    if (how.dropout == 0) return x;
    Tensor y = Tensor::like(x);
    kernels::dropout(x.view(), how.dropout, how.seed, how.step.view(), y.view());
    return y;
  }

  Tensor probabilities(const Tensor& q, const Tensor& k) const {
    const Tensor raw = product(q, Trans::no, k, Trans::yes, scores, wide(q.dtype()));
    show("attention: scores", q, raw, wide(q.dtype()));
    Tensor p(scores, q.dtype(), q.device());
    kernels::attention_softmax(raw.view(), mask(), scale, p.view());
    return p;
  }
  /// The gradient of the scores before their scale, out of that of the output.
  Tensor errors_of_scores(const Tensor& p, const Tensor& v, const Tensor& dy) const {
    const Tensor dp = dropped(product(dy, Trans::no, v, Trans::yes, scores, wide(v.dtype())));
    Tensor errors = Tensor::like(p);
    kernels::attention_softmax_backward(p.view(), dp.view(), mask(), scale, errors.view());
    return errors;
  }
};

}  // namespace

//       s = q . k^T                                      (T,S), of each head of each text
//       p = softmax(s / sqrt D)                          over what a row sees
//       y = p . v                                        (T,D)
//      dv = p^T . dy,  dp = dy . v^T
//      ds = p (dp - sum over s of dp p) / sqrt D
//      dq = ds . k,    dk = ds^T . q
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options) {
  if (const Recast as = recast("attention", q, k, v))
    return attention(as[0], as[1], as[2], std::move(options));
  expect_texts(q, k, v, options);
  if (options.lengths) expect_lengths(k, *options.lengths);
  expect_dropout(q, options);
  const Attention of(q, k, std::move(options));
  const Tensor p = of.probabilities(q, k);
  const Tensor y = of.product(of.dropped(p), Trans::no, v, Trans::no, q.shape(), q.dtype());
  return record({"attention", wide(q.dtype())}, {q, k, v}, y,
                [of, q, k, v, p](const Tensor& dy, const Needs& needs) {
                  std::vector<Tensor> grads(3);
                  if (needs(2))
                    grads[2] = of.product(of.dropped(p), Trans::yes, dy, Trans::no, v.shape(), v.dtype());
                  if (!needs(0) && !needs(1)) return grads;
                  const Tensor ds = of.errors_of_scores(p, v, dy);
                  if (needs(0)) grads[0] = of.product(ds, Trans::no, k, Trans::no, q.shape(), q.dtype());
                  if (needs(1)) grads[1] = of.product(ds, Trans::yes, q, Trans::no, k.shape(), k.dtype());
                  return grads;
                });
}

}  // namespace tinymp
