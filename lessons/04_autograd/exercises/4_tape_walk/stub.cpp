// Exercise 4.4: the tape, backwards.
//
// nodes_ holds what was recorded, oldest first: op (its name), inputs, output, and backward(dy, needs), which
// gives one gradient for each input. The loss is the output of one of them and has its gradient, 1; nobody
// else has one yet, but perhaps what an earlier backward left in a parameter.
//
//   - Run the ops so that the gradient of an output is complete before its op runs.
//   - An op whose output has no gradient did not reach the loss: it is not run.
//   - node.backward(dy, Needs(node.inputs)) has to give as many tensors as there are inputs. Only inputs that
//     requires_grad() get theirs, and it has to have their shape and dtype.
//     expect(condition, node.op, ": ...") throws an Error that names the op.
//   - observer_ may be null. Else tell it, once the gradients have been added:
//         observer_->backward(node.op, node.inputs, node.output, dy, grads)
//   - Gradients of parameters stay; that of an op's output is forgotten (clear_grad()) as soon as the op has
//     run, and the node with all that it keeps (pop_back()) before the next one runs: memory is short.
//
// add_gradient: a gradient that arrives is added to the one that is there: x.grad(), empty when there is
// none. It may belong to others, too: add(a, b) hands one dy to both, reshape hands on the one it got. At
// hand: kernels::add(a.view(), b.view(), sum.view()), Tensor(shape, dtype, device), x.set_grad(g).
namespace {

void add_gradient(const Tensor& x, const Tensor& g) {
  if (const Tensor buffer = x.bound_grad()) {  // an optimizer wants it in this place, and in FP32
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
