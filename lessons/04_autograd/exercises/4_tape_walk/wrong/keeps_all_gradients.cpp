// rejected: keeps the gradient of an op's output
namespace {

void add_gradient(const Tensor& x, const Tensor& g) {
  if (const Tensor buffer = x.bound_grad()) {
    if (x.grad()) {
      kernels::accumulate(g.view(), buffer.view());
    } else {
      kernels::cast(g.view(), buffer.view());
      x.set_grad(buffer);
    }
  } else if (const Tensor so_far = x.grad()) {
    Tensor total(x.shape(), x.dtype(), x.device());
    kernels::add(so_far.view(), g.view(), total.view());
    x.set_grad(total);
  } else {
    x.set_grad(g);
  }
}

}  // namespace

void Tape::walk() {
  for (; !nodes_.empty(); nodes_.pop_back()) {
    const Node& node = nodes_.back();
    const Tensor dy = node.output.grad();
    if (!dy) continue;
    const std::vector<Tensor> grads = node.backward(dy, Needs(node.inputs));
    expect(grads.size() == node.inputs.size(), node.op, ": ", grads.size(), " gradients for ",
           node.inputs.size(), " inputs");
    for (std::size_t i = 0; i < grads.size(); ++i) {
      const Tensor& x = node.inputs[i];
      if (!x.requires_grad()) continue;
      expect(grads[i] && grads[i].shape() == x.shape() && grads[i].dtype() == x.dtype(), node.op, ": input ",
             i, " is ", x.dtype(), x.shape(), " and its gradient is not");
      add_gradient(x, grads[i]);
    }
    if (observer_ != nullptr) observer_->backward(node.op, node.inputs, node.output, dy, grads);
  }
}
