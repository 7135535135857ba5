#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

/// (B,T,W) as (B,T W): a text is one row.
Tensor text_a_row(const Tensor& x) { return x.viewed_as({x.shape()[0], x.shape()[1] * x.shape()[2]}); }

/// The first T rows as one.
Tensor first_rows(const Tensor& table, std::int64_t count) {
  return table.slice(0, {count * table.shape()[1]});
}

}  // namespace

//       y = x + the first T rows of the table      (B,T,W) of (B,T,W) and (P,W)
//      dx = dy
//  dtable = sum over b of dy, 0 in the other rows
Tensor add_positions(const Tensor& x, const Tensor& table) {
  if (const Recast as = recast("add_positions", x, table)) return add_positions(as[0], as[1]);
  expect_same_dtype("add_positions", x, table);
  const Shape& texts = x.shape();
  expect(texts.rank() == 3 && table.shape().rank() == 2 && table.shape()[1] == texts[2] &&
             texts[1] <= table.shape()[0],
         "add_positions: x", texts, " and the table ", table.shape(),
         " do not fit: x is (B,T,W), the table (P,W) with a row for each of the T places");
  Tensor y = Tensor::like(x);
  kernels::add_bias(text_a_row(x).view(), first_rows(table, texts[1]).view(), text_a_row(y).view());
  return record("add_positions", {x, table}, y,
                [table, count = texts[1]](const Tensor& dy, const Needs& needs) {
                  std::vector<Tensor> grads{dy, Tensor()};
                  if (!needs(1)) return grads;
                  grads[1] = table.place_for_grad();
                  if (count < table.shape()[0] || dy.size() == 0) kernels::fill(grads[1].view(), 0);
                  if (dy.size() > 0)
                    kernels::column_sums(text_a_row(dy).view(), first_rows(grads[1], count).view());
                  return grads;
                });
}

}  // namespace tinymp
