// Exercise 4.4: the tape, backwards.
//
// nodes_ holds the recorded ops, oldest first: op (its name), inputs, output, and backward(dy, needs), which
// returns one gradient for each input. The loss is the output of one of them and has its gradient, 1. No
// other tensor has a gradient yet, except perhaps a parameter, from an earlier backward.
//
//   - Run the ops so that the gradient of an output is complete before its op runs.
//   - If an op's output has no gradient, the op did not contribute to the loss: do not run it.
//   - node.backward(dy, Needs(node.inputs)) has to return as many tensors as there are inputs. Only inputs
//     with requires_grad() get their gradient, and it has to have their shape and dtype.
//     expect(condition, node.op, ": ...") throws an Error that names the op.
//   - observer_ may be null. If it is not, tell it after the gradients have been added:
//         observer_->backward(node.op, node.inputs, node.output, dy, grads)
//   - Gradients of parameters stay. Memory is short: clear the gradient of an op's output (clear_grad()) as
//     soon as the op has run, and remove the node (pop_back()) before the next one runs.
//
// add_gradient adds a new gradient to x.grad(), which is empty if x has none yet. Other tensors may share the
// new gradient: add(a, b) passes one dy to both inputs, and reshape passes on the one it got. You can
// use kernels::add(a.view(), b.view(), sum.view()), Tensor(shape, dtype, device), x.set_grad(g).
namespace {

void add_gradient(const Tensor& x, const Tensor& g) {
  if (const Tensor buffer = x.bound_grad()) {  // an optimizer needs it in this place, and in FP32
    if (x.grad()) {
      kernels::accumulate(g.view(), buffer.view());  // buffer += g
    } else {
      kernels::cast(g.view(), buffer.view());
      x.set_grad(buffer);
    }
    return;
  }
  // TODO: any other x, with a gradient already or without.
}

}  // namespace

void Tape::walk() {
  // TODO: in which order, and what with each node?
  nodes_.clear();
}
