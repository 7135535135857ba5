#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/base/memory_account.h>
#include <tinymp/ops/ops.h>

/// The bytes that a tape keeps of products in FP8, counted by hand.
namespace tinymp::test {
namespace {

using enum DType;

struct Layered final : nn::Module {
  Tensor filter = drawn({3, 3, 4, 8}, f16, 1, 0.5f).set_requires_grad(true),
         matrix = drawn({72, 16}, f16, 2, 0.5f).set_requires_grad(true);
  std::vector<nn::Parameter> parameters() const override {
    return {{"layer 1 weight", filter}, {"layer 2 weight", matrix}};
  }
  std::string name() const override { return "layered"; }

  /// (2,8,8,4) -> (2,6,6,8) -> (2,3,3,8) -> (2,72) -> (2,16). Pooling needs its input in backward, and not its output.
  Tensor operator()(const Tensor& images) const {
    return matmul(reshape(max_pool2d(conv2d(scale(images, 0.5f), filter), 2, 2), {2, 72}), matrix);
  }
};

struct Kept {
  std::int64_t bytes;
  Tensor y, of_images, of_filter, of_matrix;
};

/// The bytes between forward and backward, and then what backward made.
Kept kept_by(const Layered& model, const DType format) {
  Recipe recipe{.compute = f16};
  if (format != f32) recipe.eight_bits = {.forward = format, .backward = e5m2};
  const Float8Products products(model, recipe);
  const Float8Products::Region region(products);
  const Tensor images = drawn({2, 8, 8, 4}, f16, 3, 1).set_requires_grad(true);
  for (const Tensor& p : {model.filter, model.matrix}) p.clear_grad();
  const auto account = std::make_shared<MemoryAccount>();
  const MemoryRegion counted(account);
  Tape tape;
  const Tensor y = model(images);
  const std::int64_t bytes = account->now(MemoryKind::activations);
  tape.backward(sum(y));
  return {bytes, y, images.grad(), model.filter.grad(), model.matrix.grad()};
}

}  // namespace

TEST_CASE("FP8 products: a tape keeps the operands in FP8, and no 16 bits that backward does not need") {
  const Layered model;
  constexpr std::int64_t scaled = 2 * 8 * 8 * 4, convolved = 2 * 6 * 6 * 8, pooled = 2 * 72, y = 2 * 16;
  constexpr std::int64_t filter = 3 * 3 * 4 * 8, matrix = 72 * 16;
  CHECK(kept_by(model, f32).bytes == 2 * (scaled + convolved + pooled + y));
  for (const DType format : {e4m3, e5m2})
    CHECK(kept_by(model, format).bytes == scaled + 2 * convolved + pooled + 2 * y + filter + matrix);
}

TEST_CASE("FP8 products: what another op needs of an operand stays") {
  const Tensor w = drawn({8, 4}, f16, 1).set_requires_grad(true),
               x = drawn({3, 8}, f16, 2).set_requires_grad(true);
  struct One final : nn::Module {
    Tensor w;
    explicit One(Tensor w) : w(std::move(w)) {}
    std::vector<nn::Parameter> parameters() const override { return {{"layer 1 weight", w}}; }
    std::string name() const override { return "one"; }
  };
  Recipe recipe{.compute = f16};
  recipe.eight_bits = {.forward = e5m2, .backward = e5m2};
  const Float8Products products(One(w), recipe);
  const Float8Products::Region region(products);
  const auto gradient = [&](bool holds) {
    x.clear_grad();
    Tape tape;
    Tensor held;
    const Tensor z = [&] {
      const Tensor hidden = tanh(x);  // its backward needs its result
      if (holds) held = hidden;
      return add(matmul(hidden, w), matmul(multiply(hidden, hidden), w));
    }();
    tape.backward(sum(z));
    return x.grad();
  };
  CHECK(bits_equal(gradient(false), gradient(true)));
}

TEST_CASE("tensor: an outline has shape, format and gradient, and its values go with the last other handle") {
  const auto account = std::make_shared<MemoryAccount>();
  const MemoryRegion counted(account);
  Tensor x({2, 3}, f16), outline = x.outline();
  const Tensor part = x.viewed_as({6});
  CHECK(outline.id() == x.id());
  CHECK(outline.view().memory == x.view().memory);
  CHECK(outline.shares_memory(part));
  CHECK(account->now(MemoryKind::workspace) == 12);
  x = {};
  CHECK(account->now(MemoryKind::workspace) == 12);  // the part
  CHECK_SAYS("the values of a tensor of shape (2, 3) are gone", outline.view());
  CHECK_SAYS("are gone", outline.viewed_as({6}));
  CHECK_FALSE(outline.shares_memory(part));
  CHECK(outline.shape() == Shape{2, 3});
  CHECK(outline.dtype() == f16);
  const Tensor gradient({2, 3}, f16);
  outline.set_grad(gradient);
  CHECK(outline.grad().id() == gradient.id());
  CHECK(outline.place_for_grad().shape() == Shape{2, 3});
}

}  // namespace tinymp::test
