#include <tinymp/autograd/tape.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/ops/ops.h>
#include <sstream>
#include <thread>

namespace tinymp::test {
namespace {

using Floats = std::vector<float>;

Tensor leaf(Shape shape, const Floats& values, DType dtype = DType::f32) {
  return Tensor::from(shape, values, dtype).set_requires_grad(true);
}

/// factor x, with a backward that says when it ran.
Tensor traced(const Tensor& x, float factor, std::vector<float>& order) {
  Tensor y = scale(Tensor::from(x.shape(), x.to_floats()), factor);
  return record("traced", {x}, y, [factor, &order](const Tensor& dy, const Needs&) {
    order.push_back(factor);
    return std::vector{scale(dy, factor)};
  });
}

TEST_CASE("backward runs the ops newest first and applies the chain rule") {
  const Tensor x = leaf({2}, {1, 2});
  std::vector<float> order;
  Tape tape;
  const Tensor y = traced(traced(traced(x, 2, order), 3, order), 5, order);
  CHECK(tape.size() == 3);
  tape.backward(sum(y));
  CHECK(order == Floats{5, 3, 2});
  CHECK(x.grad().to_floats() == Floats{30, 30});
  CHECK(tape.size() == 0);
}

TEST_CASE("a tape can be read") {
  const Tensor w = leaf({3, 2}, {1, 2, 3, 4, 5, 6});
  Tape tape;
  static_cast<void>(sum(matmul(Tensor::from({1, 3}, Floats{1, 1, 1}, DType::f16), cast(w, DType::f16))));
  std::ostringstream text;
  text << tape;
  CHECK(text.str() ==
        "  cast    f32(3, 2) -> f16(3, 2)\n"
        "  matmul  f16(1, 3), f16(3, 2) -> f16(1, 2)\n"
        "  sum     f16(1, 2) -> f32()\n");
}

TEST_CASE("without a tape nothing is recorded, and results do not ask for gradients") {
  CHECK(Tape::current() == nullptr);
  const Tensor w = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor y = relu(matmul(w, w));
  CHECK_FALSE(y.requires_grad());
  const Tape tape;
  CHECK(tape.size() == 0);
}

TEST_CASE("what depends on nothing that wants a gradient is not recorded") {
  Tape tape;
  const Tensor a = Tensor::from({2}, Floats{1, 2});
  const Tensor y = relu(add(a, a));
  CHECK(tape.size() == 0);
  CHECK_FALSE(y.requires_grad());
  const Tensor w = leaf({2}, {1, 2});
  CHECK(add(y, w).requires_grad());
  CHECK(tape.size() == 1);
}

TEST_CASE("a tensor used twice gets the sum of both gradients") {
  const Tensor x = leaf({2}, {3, 4});
  {
    Tape tape;
    tape.backward(sum(add(scale(x, 2), scale(x, 5))));
  }
  CHECK(x.grad().to_floats() == Floats{7, 7});
  x.clear_grad();
  {
    Tape tape;
    tape.backward(sum(add(x, x)));  // both gradients are one tensor
  }
  CHECK(x.grad().to_floats() == Floats{2, 2});
  x.clear_grad();
  {
    Tape tape;
    const Tensor y = add(x, x);
    tape.backward(sum(add(add(y, x), y)));  // 5 x
  }
  CHECK(x.grad().to_floats() == Floats{5, 5});
}

TEST_CASE("a weight used twice in matmul gets both parts") {
  const Tensor w = leaf({2, 2}, {1, 2, 3, 4});
  Tape tape;
  tape.backward(sum(matmul(w, w)));
  // d sum(W W) / dW = J W^T + W^T J, J all ones
  CHECK(w.grad().to_floats() == Floats{3 + 4, 7 + 4, 3 + 6, 7 + 6});
}

TEST_CASE("gradients that are shared are not written over") {
  // add hands one dy to a and to b; a then gets more from elsewhere. b must not see it.
  const Tensor a = leaf({2}, {1, 1}), b = leaf({2}, {1, 1});
  {
    Tape tape;
    const Tensor more = scale(a, 10);  // recorded first, so its gradient arrives last
    tape.backward(sum(add(add(a, b), more)));
  }
  CHECK(a.grad().to_floats() == Floats{11, 11});
  CHECK(b.grad().to_floats() == Floats{1, 1});

  // reshape's dx is dy seen otherwise
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4}), c = leaf({4}, {0, 0, 0, 0});
  {
    Tape tape;
    const Tensor more = scale(x, 100);
    const Tensor flat = add(reshape(x, {4}), c);
    tape.backward(sum(add(flat, reshape(more, {4}))));
  }
  CHECK(x.grad().to_floats() == Floats{101, 101, 101, 101});
  CHECK(c.grad().to_floats() == Floats{1, 1, 1, 1});
}

TEST_CASE("gradients of several backward passes add up until they are cleared") {
  const Tensor x = leaf({2}, {1, 2});
  for (int pass = 1; pass <= 3; ++pass) {
    Tape tape;
    tape.backward(sum(scale(x, 4)));
    CHECK(x.grad().to_floats() == Floats(2, 4 * static_cast<float>(pass)));
  }
  const Tensor kept = x.grad();
  x.clear_grad();
  Tape tape;
  tape.backward(sum(x));
  CHECK(x.grad().to_floats() == Floats{1, 1});
  CHECK(kept.to_floats() == Floats{12, 12});
}

TEST_CASE("a bound buffer gets the gradients in its own place and format") {
  const Tensor x = leaf({2}, {1, 2}, DType::f16);
  const Tensor arena = Tensor::from({4}, Floats{-1, -1, -1, -1});
  x.bind_grad(arena.slice(1, {2}));
  {
    Tape tape;
    tape.backward(sum(scale(x, 3)));
  }
  CHECK(arena.to_floats() == Floats{-1, 3, 3, -1});
  CHECK(x.grad().data<float>() == arena.data<float>() + 1);
  {
    Tape tape;  // the second pass adds, in the buffer's FP32: f16 would stop at 2048
    tape.backward(sum(add(scale(x, 2048), x)));
  }
  CHECK(arena.to_floats() == Floats{-1, 2052, 2052, -1});
  x.clear_grad();
  {
    Tape tape;  // after clear_grad it is written anew
    tape.backward(sum(x));
  }
  CHECK(arena.to_floats() == Floats{-1, 1, 1, -1});
}

TEST_CASE("contributions to a bound buffer are added one by one, also within one pass") {
  const Tensor x = leaf({1}, {1}, DType::f16);
  const Tensor buffer = Tensor::from({1}, Floats{0});
  x.bind_grad(buffer);
  Tape tape;
  tape.backward(sum(add(scale(x, 2048), scale(x, 1))));
  CHECK(buffer.item() == 2049);  // not a half
}

TEST_CASE("an op whose result does not reach the loss gets no gradient and is not run") {
  const Tensor x = leaf({2}, {1, 2}), unused = leaf({2}, {1, 2});
  std::vector<float> order;
  Tape tape;
  static_cast<void>(traced(unused, 9, order));
  tape.backward(sum(traced(x, 2, order)));
  CHECK(order == Floats{2});
  CHECK_FALSE(static_cast<bool>(unused.grad()));
}

TEST_CASE("needs(i) says which inputs want a gradient") {
  const Tensor w = leaf({2}, {1, 2}), data = Tensor::from({2}, Floats{1, 2});
  std::vector<bool> needed;
  Tape tape;
  const Tensor y = record("probe", {data, w, data}, Tensor::from({2}, Floats{0, 0}),
                          [&](const Tensor& dy, const Needs& needs) {
                            needed = {needs(0), needs(1), needs(2)};
                            return std::vector{Tensor(), dy, Tensor()};
                          });
  tape.backward(sum(y));
  CHECK(needed == std::vector<bool>{false, true, false});
  CHECK(w.grad().to_floats() == Floats{1, 1});
  CHECK_FALSE(static_cast<bool>(data.grad()));
}

/// Blocks of memory that backward of matmul(x, w) asks for.
std::size_t blocks_of_backward(bool x_wants, bool w_wants) {
  const Tensor x = Tensor::from({3, 4}, Floats(12, 1)), w = Tensor::from({4, 5}, Floats(20, 1));
  x.set_requires_grad(x_wants);
  w.set_requires_grad(w_wants);
  Tape tape;
  const Tensor loss = sum(matmul(x, w));
  const auto asked = [] { return pool_statistics().from_pool + pool_statistics().from_system; };
  const std::size_t before = asked();
  tape.backward(loss);
  CHECK(static_cast<bool>(x.grad()) == x_wants);
  CHECK(static_cast<bool>(w.grad()) == w_wants);
  return asked() - before;
}

TEST_CASE("no matrix multiplication is spent on a gradient that nobody wants") {
  // Each one needs memory of the pool for its result at least, so what was not asked for was not computed.
  const std::size_t both = blocks_of_backward(true, true);
  CHECK(blocks_of_backward(false, true) < both);
  CHECK(blocks_of_backward(true, false) < both);
}

TEST_CASE("no sum over the batch is spent on a bias that wants no gradient") {
  const Tensor x = leaf({3, 4}, Floats(12, 1)), bias = Tensor::from({4}, Floats(4, 1));
  Tape tape;
  tape.backward(sum(add_bias(x, bias)));
  CHECK(x.grad().to_floats() == Floats(12, 1));
  CHECK_FALSE(static_cast<bool>(bias.grad()));
}

TEST_CASE("a tape runs once") {
  const Tensor x = leaf({2}, {1, 2});
  Tape tape;
  const Tensor loss = sum(x);
  tape.backward(loss);
  CHECK_SAYS("backward() was called before on this tape", tape.backward(loss));
  CHECK(x.grad().to_floats() == Floats{1, 1});  // as the first pass left it
  CHECK_SAYS("scale: this tape has run backward; make a new Tape for the next step", scale(x, 2));
}

TEST_CASE("the loss must be one value that was computed under this tape") {
  const Tensor x = leaf({2}, {1, 2});
  Tape tape;
  CHECK_SAYS("backward() starts from a scalar loss, this tensor has shape (2)", tape.backward(scale(x, 2)));
  CHECK_SAYS("the loss was not computed under this tape", tape.backward(Tensor::from({}, Floats{1})));
  const Tensor single = leaf({}, {1});
  CHECK_SAYS("the loss was not computed under this tape", tape.backward(single));
  Tensor elsewhere;
  {
    const Tape inner;
    elsewhere = sum(x);
  }
  CHECK_SAYS("the loss was not computed under this tape", tape.backward(elsewhere));
  CHECK_FALSE(static_cast<bool>(x.grad()));
  tape.backward(sum(x));  // what was refused did no harm
  CHECK(x.grad().to_floats() == Floats{1, 1});
}

TEST_CASE("an inner tape records in place of the outer one") {
  const Tensor x = leaf({2}, {1, 2});
  Tape outer;
  CHECK(Tape::current() == &outer);
  const Tensor before = scale(x, 2);
  {
    Tape inner;
    CHECK(Tape::current() == &inner);
    inner.backward(sum(scale(x, 7)));
    CHECK(x.grad().to_floats() == Floats{7, 7});
  }
  CHECK(Tape::current() == &outer);
  CHECK(outer.size() == 1);
  x.clear_grad();
  outer.backward(sum(before));
  CHECK(x.grad().to_floats() == Floats{2, 2});
}

TEST_CASE("stopped tapes wait side by side for their backward") {
  const Tensor w = leaf({2}, {1, 2});
  std::vector<float> order;
  Tape outer;
  std::optional<Tape> first, second;
  first.emplace();
  const Tensor a = sum(traced(w, 2, order));
  first->stop();
  CHECK(Tape::current() == &outer);
  CHECK_SAYS("this is not the current tape", first->stop());
  second.emplace();
  const Tensor b = sum(traced(w, 3, order));
  second->stop();
  CHECK(outer.size() == 0);
  first->backward(a);  // not the order of a stack
  CHECK(w.grad().to_floats() == Floats{2, 2});
  first.reset();
  CHECK(Tape::current() == &outer);
  const Tensor c = sum(traced(w, 7, order));
  CHECK(outer.size() == 2);
  second->backward(b);
  second.reset();
  CHECK(order == Floats{2, 3});
  CHECK(w.grad().to_floats() == Floats{5, 5});
  outer.backward(c);
  CHECK(w.grad().to_floats() == Floats{12, 12});
}

TEST_CASE("a tape that was stopped and never used leaves the outer one alone") {
  const Tensor w = leaf({2}, {1, 2});
  Tape outer;
  {
    Tape inner;
    inner.stop();
    CHECK(Tape::current() == &outer);
  }
  CHECK(Tape::current() == &outer);
}

TEST_CASE("backward may begin with the gradient of an output: two tapes go the way of one") {
  const Tensor w = leaf({2}, {1, 2});
  std::vector<float> order;
  Tape before;
  const Tensor x = traced(w, 2, order);
  before.stop();
  const Tensor handed = Tensor::from({2}, x.to_floats()).set_requires_grad(true);
  Tape behind;
  behind.backward(sum(traced(handed, 5, order)));
  CHECK_SAYS("its gradient is f32(3)", before.backward(x, Tensor::from({3}, Floats{1, 1, 1})));
  CHECK_SAYS("was not computed under this tape", before.backward(handed, handed.grad()));
  before.backward(x, handed.grad());
  CHECK(order == Floats{5, 2});
  CHECK(w.grad().to_floats() == Floats{10, 10});
  CHECK_SAYS("called before", before.backward(x, handed.grad()));
}

TEST_CASE("each thread has a tape of its own") {
  const Tensor x = leaf({2}, {1, 2});
  const Tape tape;
  const Tape* seen = &tape;
  std::thread other([&] {
    seen = Tape::current();
    static_cast<void>(scale(x, 2));
  });
  other.join();
  CHECK(seen == nullptr);
  CHECK(tape.size() == 0);
}

TEST_CASE("a backward that returns the wrong gradients is named") {
  const Tensor x = leaf({2}, {1, 2});
  const auto with = [&](std::vector<Tensor> gradients) {
    Tape tape;
    tape.backward(record("broken", {x}, Tensor::from({}, Floats{0}),
                         [gradients](const Tensor&, const Needs&) { return gradients; }));
  };
  CHECK_SAYS("broken: 0 gradients for 1 inputs", with({}));
  CHECK_SAYS("broken: input 0 is f32(2) and its gradient is not", with({Tensor()}));
  CHECK_SAYS("broken: input 0 is f32(2) and its gradient is not", with({Tensor::from({1}, Floats{1})}));
  CHECK_SAYS("broken: input 0 is f32(2) and its gradient is not",
             with({Tensor::from({2}, Floats{1, 1}, DType::f16)}));
}

TEST_CASE("activations are freed as backward goes, and with the tape") {
  const Tensor w = leaf({64, 64}, Floats(4096, 0.01f));
  const auto in_use = [] { return pool_statistics().bytes_in_use; };
  const std::size_t before = in_use();
  {
    Tape tape;
    Tensor x = matmul(w, w);
    for (int i = 0; i < 10; ++i) x = relu(x);
    const Tensor loss = sum(x);
    x = Tensor();
    CHECK(in_use() - before > 11 * 4096 * 4);
    tape.backward(loss);
    CHECK(in_use() - before < 3 * 4096 * 4);  // the gradient of w, and scalars
  }
  {
    const Tape tape;  // dropped without backward
    static_cast<void>(sum(matmul(w, w)));
  }
  w.clear_grad();
  CHECK(in_use() == before);
}

TEST_CASE("gradients of intermediate results are not kept") {
  const Tensor x = leaf({2}, {1, 2});
  Tape tape;
  const Tensor y = scale(x, 2), loss = sum(y);
  tape.backward(loss);
  CHECK_FALSE(static_cast<bool>(y.grad()));
  CHECK_FALSE(static_cast<bool>(loss.grad()));
}

}  // namespace
}  // namespace tinymp::test
