#include <tests/train/resume.h>
#include <tests/train/torch_transformer.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/train/checkpoint_tensors.h>

// What we compute in FP32, logits and gradients, against PyTorch in FP64: what differs is our rounding alone. CI has no
// PyTorch: `pip install torch safetensors`, then
//   build/dev/tests/test_train "PyTorch*"
namespace tinymp::test {
namespace {

using Numbers = std::vector<std::int32_t>;
using Kind = nn::Transformer::Kind;

/// The arguments are a file of tensors and what its program takes. off() notes the largest difference of a tensor in parts of
/// the largest value of `truth`, or of `beside`.
constexpr const char* begin = R"(
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], 'pt') as file:
    given = {name: file.get_tensor(name).double() for name in file.keys()}
found = {}


def off(name, truth, beside=None):
    found[name] = float((given[name] - truth).abs().max() / (truth if beside is None else beside).abs().max())
)";

/// All tensors that were compared, and the worst of them.
constexpr const char* end = R"(
worst = max(found, key=found.get)
print(found[worst], worst, len(found), found)
)";

constexpr const char* of_attention = R"(
q, k, v = (given[name].requires_grad_() for name in 'qkv')
y = attention_of_heads(int(sys.argv[2]), q, k, v, sys.argv[3] == '1', given.get('lengths'))
y.backward(given['dy'])
for name, truth in zip(('y', 'dq', 'dk', 'dv'), (y, q.grad, k.grad, v.grad)):
    off(name, truth)
)";

constexpr const char* of_gelu = R"(
x = given['x'].requires_grad_()
y = nn.functional.gelu(x)
y.backward(given['dy'])
off('y', y)
off('dx', x.grad)
)";

/// A bias of the keys moves all scores of a row alike, so its gradient is 0 but for rounding; it stands beside that of the
/// queries.
constexpr const char* of_model = R"(
model = globals()[sys.argv[2]]().double()
names = [name for name, _ in model.named_parameters()]
model.load_state_dict({name: given[name] for name in given if name.split('.')[0] not in ('of', 'gradient')}, strict=True)
asked = given['of.asked'].long() if 'of.asked' in given else None
y = model(given['of.tokens'], given.get('of.lengths'), asked)
loss = nn.functional.cross_entropy(y, given['of.labels'].long())
loss.backward()
off('of.logits', y)
off('of.loss', loss)
gradients = dict(model.named_parameters())
for name in gradients:
    beside = gradients[name.replace('key.bias', 'query.bias')].grad
    off('gradient.' + name, gradients[name].grad, beside)
assert len(found) == 2 + len(names) == 2 + sum(name.startswith('gradient.') for name in given)
)";

/// Tensors for a program in PyTorch.
class Handed {
 public:
  void add(const std::string& name, const Tensor& x) {
    tensors_.tensors[name] = train::stored(x, train::plain(name, x.shape()));
  }
  void add(const std::string& name, const Numbers& numbers) {
    add(name, Tensor::from({std::ssize(numbers)}, std::vector<float>(numbers.begin(), numbers.end())));
  }
  /// Parameters and their gradients under PyTorch's names and in its layouts.
  void add(const nn::Module& model) {
    const std::vector<Tensor> parameters = tensors(model.parameters());
    const std::vector<nn::TorchTensor> layouts = nn::torch_parameters(model);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      tensors_.tensors[layouts[i].name] = train::stored(parameters[i], layouts[i]);
      tensors_.tensors["gradient." + layouts[i].name] = train::stored(parameters[i].grad(), layouts[i]);
    }
  }
  /// Checks that no tensor is off by more than `allowed` of its largest value.
  void check(const char* program, const std::vector<std::string>& arguments, double allowed) const {
    const files::Folder folder;
    std::vector<std::string> all{folder / "tensors"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    train::save_safetensors("the tensors", all[0], tensors_);
    const auto said = python(concat(torch_transformer, begin, program, end), all);
    REQUIRE(said.has_value());
    INFO(*said);
    CHECK(std::stod(*said) <= allowed);
  }

 private:
  train::Safetensors tensors_;
};

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(-2, 2);
  return Tensor::from(shape, values).set_requires_grad(true);
}

/// Backward from y, whose gradient is dy.
void walk_back(Tape& tape, const Tensor& y, const Tensor& dy) {
  tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                       [dy](const Tensor&, const Needs&) { return std::vector{dy}; }));
}

TEST_CASE("PyTorch: attention and its gradients, causal, with padding, with both") {
  if (!python("import torch, safetensors")) SKIP_TEST("no Python package torch");
  const Shape shape{3, 33, 48};
  for (const bool causal : {false, true}) {
    for (const bool padded : {false, true}) {
      const Tensor q = drawn(shape, 1), k = drawn(shape, 2), v = drawn(shape, 3), dy = drawn(shape, 4);
      AttentionOptions how{.heads = 4, .causal = causal};
      Handed handed;
      if (padded) {
        const Numbers lengths{33, 1, 20};
        how.lengths = Indices(lengths, Device::cpu);
        handed.add("lengths", lengths);
      }
      Tape tape;
      const Tensor y = attention(q, k, v, how);
      walk_back(tape, y, dy);
      for (const auto& [name, x] : {std::pair{"q", q}, {"k", k}, {"v", v}, {"dy", dy}, {"y", y}})
        handed.add(name, x);
      for (const auto& [name, x] : {std::pair{"dq", q}, {"dk", k}, {"dv", v}}) handed.add(name, x.grad());
      INFO((causal ? "causal" : "") << (padded ? " padded" : ""));
      handed.check(of_attention, {"4", causal ? "1" : "0"}, 1e-6);
    }
  }
}

TEST_CASE("PyTorch: GELU and its gradient") {
  if (!python("import torch, safetensors")) SKIP_TEST("no Python package torch");
  for (const float reach : {0.01f, 1.0f, 15.0f}) {
    std::vector<float> values, ones(4001, 1);
    for (int i = -2000; i <= 2000; ++i) values.push_back(reach * static_cast<float>(i) / 2000);
    const Tensor x = Tensor::from({4001}, values).set_requires_grad(true), dy = Tensor::from({4001}, ones);
    Tape tape;
    const Tensor y = gelu(x);
    walk_back(tape, y, dy);
    Handed handed;
    for (const auto& [name, t] : {std::pair{"x", x}, {"dy", dy}, {"y", y}, {"dx", x.grad()}})
      handed.add(name, t);
    INFO("up to " << reach);
    handed.check(of_gelu, {}, 1e-6);
  }
}

/// A transformer, its texts, and the tokens that it is to name.
struct Case {
  const char* twin;
  Kind kind;
  std::int64_t classes;
  Numbers lengths, asked, labels;
};

void check_model(const Case& of) {
  Rng rng(3);
  const nn::Transformer model(
      of.kind, {.words = 11, .context = 6, .width = 8, .heads = 2, .classes = of.classes}, {}, rng);
  for (const nn::Parameter& p :
       model.parameters())  // gamma 1 and beta 0 would not tell one norm from another
    for (std::int64_t i = 0; i < p.value.size(); ++i) p.value.data<float>()[i] += rng.uniform(-0.3f, 0.3f);
  const Numbers tokens{1, 4, 10, 0, 2, 7, 7, 3, 9, 5};  // two texts of five
  Texts texts{.tokens = Indices(tokens, Device::cpu), .steps = 5};
  Handed handed;
  handed.add("of.tokens", Tensor::from({2, 5}, std::vector<float>(tokens.begin(), tokens.end())));
  handed.add("of.labels", of.labels);
  if (!of.lengths.empty()) {
    texts.lengths = Indices(of.lengths, Device::cpu);
    handed.add("of.lengths", of.lengths);
  }
  if (!of.asked.empty()) {
    texts.asked = Indices(of.asked, Device::cpu);
    handed.add("of.asked", of.asked);
  }
  Tape tape;
  const Tensor logits = model.read(texts), loss = cross_entropy(logits, of.labels);
  tape.backward(loss);
  handed.add("of.logits", logits);
  handed.add("of.loss", loss);
  handed.add(model);
  INFO(of.twin);
  handed.check(of_model, {of.twin}, 2e-6);
}

TEST_CASE("PyTorch loads a transformer's weights with strict=True: the same logits, loss and gradients") {
  if (!python("import torch, safetensors")) SKIP_TEST("no Python package torch");
  const Numbers next{4, 10, 0, 2, 1, 7, 3, 9, 5, 6};
  check_model({"Decoder", Kind::decoder, 0, {}, {}, next});
  check_model({"Decoder", Kind::decoder, 0, {5, 3}, {}, next});
  check_model({"Encoder", Kind::encoder, 0, {}, {}, next});
  check_model({"Encoder", Kind::encoder, 0, {5, 3}, {1, 3, 5, 7}, {8, 0, 7, 2}});  // words that are hidden
  check_model({"Classifier", Kind::encoder, 3, {5, 3}, {0, 5}, {2, 0}});
}

}  // namespace
}  // namespace tinymp::test
