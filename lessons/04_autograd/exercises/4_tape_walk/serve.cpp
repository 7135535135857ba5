#include <lessons/04_autograd/exercises/4_tape_walk/programs.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/base/error.h>
#include <memory>

namespace tinymp::exercise {
namespace {

Tensor vector_of(const std::vector<float>& values, DType dtype = DType::f32) {
  return Tensor::from({static_cast<std::int64_t>(values.size())}, values, dtype);
}
Tensor scalar(float value) { return Tensor::from({}, std::vector<float>{value}); }

Tensor times(float factor, const Tensor& dy) {
  std::vector<float> values = dy.to_floats();
  for (float& v : values) v *= factor;
  return Tensor::from(dy.shape(), values, dy.dtype());
}

/// Its format, or -1 when there is none, and its numbers.
void put_tensor(Message& reply, const Tensor& x) {
  reply.put(x ? static_cast<int>(x.dtype()) : -1).put_all(x ? x.to_floats() : std::vector<float>{});
}

// ---- A program.

struct Running {
  Trace trace{0, 0, no_leaf, 0};
  std::vector<int> order;                ///< the ops that were run
  std::vector<std::weak_ptr<int>> kept;  ///< by each line's backward, null for leaves
  std::vector<Tensor> tensors;
};

/// Line i as an op. With a factor of 1 it hands on dy itself, as `add` does.
Tensor record_line(const Program& p, int i, Running& now) {
  const Line& line = p.lines[static_cast<std::size_t>(i)];
  std::vector<Tensor> inputs;
  for (const int in : line.in) inputs.push_back(now.tensors[static_cast<std::size_t>(in)]);
  auto kept = std::make_shared<int>(i);
  now.kept.push_back(kept);
  return record(name(i), inputs, scalar(0), [&p, &now, kept, i](const Tensor& dy, const Needs& needs) {
    const Line& self = p.lines[static_cast<std::size_t>(i)];
    now.order.push_back(i);
    for (std::size_t later = static_cast<std::size_t>(i) + 1; later < now.kept.size(); ++later)
      if (!now.kept[later].expired()) now.trace.not_freed = static_cast<int>(later);
    std::vector<Tensor> gradients;
    for (std::size_t k = 0; k < self.in.size(); ++k) {
      if (needs(k) != now.tensors[static_cast<std::size_t>(self.in[k])].requires_grad())
        now.trace.wrong_needs = 1;
      const bool hand = p.always_all || self.in[k] != p.data;
      const Tensor from = dy ? dy : scalar(0);
      gradients.push_back(!hand                  ? Tensor()
                          : self.factors[k] == 1 ? from
                                                 : times(static_cast<float>(self.factors[k]), from));
    }
    return gradients;
  });
}

struct Seen final : Observer {
  Message told;
  std::int64_t times = 0;
  void forward(const Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override {
    const bool complete = output.requires_grad() && inputs.size() == gradients.size();
    told.put_text(op).put(complete ? 1 : 0);
    for (const Tensor& x : {dy, gradients.at(0), inputs.at(0).grad()}) put_tensor(told, x);
    ++times;
  }
};

void run(Message& request, Message& reply) {
  const Program p = take_program(request);
  const bool observed = request.take<int>() != 0;
  Running now;
  Seen seen;
  std::string threw;
  {
    Tape tape(observed ? &seen : nullptr);
    for (int i = 0; i < static_cast<int>(p.lines.size()); ++i) {
      if (is_leaf(p, i)) {
        now.tensors.push_back(scalar(0).set_requires_grad(i != p.data));
        now.kept.emplace_back();
      } else {
        now.tensors.push_back(record_line(p, i, now));
      }
    }
    try {
      tape.backward(now.tensors[static_cast<std::size_t>(p.loss)]);
    } catch (const std::exception& error) {
      now.trace.threw = 1;
      threw = error.what();
    }
    now.trace.left = static_cast<std::int64_t>(tape.size());
  }
  reply.put(now.trace).put_all(now.order).put_text(threw);
  for (const Tensor& x : now.tensors) put_tensor(reply, x.grad());
  reply.put(seen.times).put_all(seen.told.bytes());
}

// ---- One op, whose gradients are given.

void run_backward(const std::string& op, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& gradients) {
  Tape tape;
  tape.backward(record(op, inputs, scalar(0), [&](const Tensor&, const Needs&) { return gradients; }));
}

void accumulate(Message& request, Message& reply) {
  const Tensor x = vector_of({1, 2}).set_requires_grad(true);
  run_backward("t1", {x}, {vector_of(request.take_all<float>())});
  const Tensor first = x.grad();
  put_tensor(reply, first);
  run_backward("t1", {x}, {vector_of(request.take_all<float>())});
  put_tensor(reply, x.grad());
  put_tensor(reply, first);
}

void in_format(Message& request, Message& reply) {
  const auto dtype = request.take<DType>();
  const std::vector<float> values = request.take_all<float>();
  const Tensor x = vector_of(values, dtype).set_requires_grad(true);
  run_backward("t1", {x, x, x}, {x, x, x});
  put_tensor(reply, x.grad());
}

/// Before the third pass the gradient is cleared.
void in_buffer(Message& request, Message& reply) {
  const Tensor x = vector_of({1}, DType::f16).set_requires_grad(true);
  const Tensor buffer = vector_of({request.take<float>()});
  x.bind_grad(buffer);
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 2) x.clear_grad();
    std::vector<Tensor> handed;
    for (const float g : request.all<float>()) handed.push_back(vector_of({g}, DType::f16));
    run_backward("t1", std::vector<Tensor>(handed.size(), x), handed);
    reply.put(x.grad() && x.grad().id() == buffer.id() ? 1 : 0);
    put_tensor(reply, buffer);
  }
}

std::vector<Tensor> gradients_of(Broken broken) {
  switch (broken) {
    case Broken::none:
      return {};
    case Broken::empty:
      return {Tensor()};
    case Broken::longer:
      return {vector_of({1, 2, 3})};
    case Broken::narrower:
      return {vector_of({1, 2}, DType::f16)};
    case Broken::two:
      break;
  }
  return {vector_of({1, 2}), vector_of({1, 2})};
}

void refuse(Message& request, Message& reply) {
  const auto broken = request.take<Broken>();
  const std::string op = request.text();
  std::string said = "no error";
  try {
    run_backward(op, {vector_of({1, 2}).set_requires_grad(true)}, gradients_of(broken));
  } catch (const Error& error) {
    said = error.what();
  }
  reply.put_text(said);
}

}  // namespace

void serve(Message& request, Message& reply) {
  switch (request.take<Asked>()) {
    case Asked::program:
      return run(request, reply);
    case Asked::accumulated:
      return accumulate(request, reply);
    case Asked::format:
      return in_format(request, reply);
    case Asked::bound:
      return in_buffer(request, reply);
    case Asked::refused:
      return refuse(request, reply);
  }
}

}  // namespace tinymp::exercise
