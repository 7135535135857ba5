#include <tests/train/resume.h>
#include <tinymp/nn/language_model.h>
#include <iomanip>
#include <sstream>

// Checkpoints in PyTorch itself. CI has no PyTorch: `pip install torch safetensors`, then
//   build/dev/tests/test_train "PyTorch*"
namespace tinymp::test {
namespace {

/// The twins, and what is asked of them: arguments are the twin, the checkpoint, images and logits as text.
constexpr const char* program = R"(
import sys
import torch
from safetensors import safe_open
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.stride, self.grown = stride, outputs - inputs

    def forward(self, x):
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        if self.grown:
            x = nn.functional.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, 0, self.grown))
        return torch.relu(x + y)


def mlp():
    return nn.Sequential(nn.Linear(784, 12), nn.ReLU(), nn.Linear(12, 10))


def batch_norm():
    return nn.Sequential(nn.Linear(784, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def resnet20():
    blocks, inputs = [], 16
    for outputs in (16, 32, 64):
        for i in range(3):
            blocks.append(Block(inputs, outputs, 2 if i == 0 and outputs > 16 else 1))
            inputs = outputs
    return nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 3)
        self.lstm = nn.LSTM(3, 3, batch_first=True)
        self.out = nn.Linear(3, 11)

    def forward(self, tokens):
        return self.out(self.lstm(self.embedding(tokens.long()))[0]).flatten(0, 1)


kind, checkpoint, images, logits = sys.argv[1:]
with safe_open(checkpoint, 'pt') as file:
    state = {name: file.get_tensor(name) for name in file.keys() if not name.startswith('tinymp.')}
model = globals()[kind]()
model.load_state_dict(state, strict=True)
model.eval()
x = torch.tensor([[float(v) for v in line.split()] for line in open(images)])
wanted = torch.tensor([[float(v) for v in line.split()] for line in open(logits)])
if kind in ('lenet', 'resnet20'):
    x = x.reshape(-1, 1, 28, 28)
with torch.no_grad():
    y = model(x)
print(float((y - wanted).abs().max() / wanted.abs().max()), sorted({str(t.dtype) for t in state.values()}))
)";

void write_rows(const std::string& path, const Tensor& x) {
  const std::vector<double> values = x.to_doubles();
  const auto columns = static_cast<std::size_t>(x.shape().cols());
  std::ofstream out(path);
  out << std::setprecision(9);
  for (std::size_t i = 0; i < values.size(); ++i) out << values[i] << ((i + 1) % columns == 0 ? '\n' : ' ');
}

/// Trains two steps. Returns the largest difference of a logit, in parts of the largest logit.
double difference(const char* twin, const train::ModelMaker& model, const Recipe& recipe,
                  const char* dtypes) {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipe, 2);
  plan.batch = 4;
  plan.model = model;
  const OwnRun run;
  std::unique_ptr<nn::Model> trained;
  static_cast<void>(train::run(plan, run.log(), {}, &trained));
  data::InOrder images(data.test, 4);
  const Tensor x = images[0].images;
  write_rows(run.folder / "images", x);
  write_rows(run.folder / "logits", (*trained)(x));
  const auto said = python(program, {twin, run.newest(), run.folder / "images", run.folder / "logits"});
  REQUIRE(said.has_value());
  INFO(*said);
  CHECK(said->find(dtypes) != std::string::npos);
  return std::stod(*said);
}

TEST_CASE("PyTorch loads a checkpoint with strict=True and gives the same logits") {
  if (!python("import torch, safetensors")) SKIP_TEST("no Python package torch");
  const train::ModelMaker mlp = train::model_of<nn::Mlp>({784, 12, 10});
  const train::ModelMaker lenet = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::LeNet>(r, rng);
  };
  const train::ModelMaker resnet = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::ResNet>(3, nn::ResNet::Images{.size = 28, .channels = 1}, r, rng);
  };
  CHECK(difference("mlp", mlp, recipes::fp32, "['torch.float32']") <= 1e-5);
  CHECK(difference("batch_norm", train::model_of<nn::BatchNormMlp>({784, 12, 10}), recipes::fp32,
                   "['torch.float32', 'torch.int64']") <= 1e-5);
  CHECK(difference("lenet", lenet, recipes::fp32, "['torch.float32']") <= 1e-5);
  CHECK(difference("resnet20", resnet, recipes::fp32, "['torch.float32', 'torch.int64']") <= 1e-4);
  // PyTorch computes in FP32 with the FP16 values, and rounds less than we do.
  CHECK(difference("mlp", mlp, recipes::fp16_master, "['torch.float16']") <= 5e-3);
}

/// Saves a language model of 11 words, 3 wide. Returns what the program prints of its file.
std::optional<std::string> compared_words(const Recipe& recipe, const char* how, const char* twin) {
  Rng rng(3);
  const nn::LanguageModel model(11, 3, recipe, rng);
  const OwnRun run;
  train::save_weights(run.newest(), model);
  const std::vector<std::int32_t> tokens = {1, 4, 10, 0, 7, 7, 3, 9};  // two texts of four words
  std::ofstream(run.folder / "tokens") << "1 4 10 0\n7 7 3 9\n";
  write_rows(run.folder / "logits", model(tokens, 4));
  return python(how, {twin, run.newest(), run.folder / "tokens", run.folder / "logits"});
}

TEST_CASE("PyTorch loads a language model's weights with strict=True and gives the same logits") {
  if (!python("import torch, safetensors")) SKIP_TEST("no Python package torch");
  const auto said = compared_words(recipes::fp32, program, "Words");
  REQUIRE(said.has_value());
  INFO(*said);
  CHECK(said->find("['torch.float32']") != std::string::npos);
  CHECK(std::stod(*said) <= 1e-5);
}

/// What the documentation of torch.nn.LSTM says, in lists.
constexpr const char* lstm_in_lists = R"(
import math
import struct
import sys
import safetensors

tensors = {}
for name, t in safetensors.deserialize(open(sys.argv[2], 'rb').read()):
    data = bytes(t['data'])
    letter = 'f' if t['dtype'] == 'F32' else 'e'
    values = struct.unpack('<%d%s' % (len(data) // struct.calcsize(letter), letter), data)
    shape = t['shape']
    tensors[name] = [list(values[i * shape[1]:(i + 1) * shape[1]]) for i in range(shape[0])] if len(shape) == 2 else list(values)

dot = lambda a, b: sum(x * y for x, y in zip(a, b))
sigmoid = lambda x: 1 / (1 + math.exp(-x))
worst, largest = 0, 0
wanted = [[float(v) for v in line.split()] for line in open(sys.argv[4])]
for text in open(sys.argv[3]):
    h, c = [0] * 3, [0] * 3
    for word in text.split():
        x = tensors['embedding.weight'][int(word)]
        z = [dot(wi, x) + bi + dot(wh, h) + bh for wi, bi, wh, bh in zip(
            tensors['lstm.weight_ih_l0'], tensors['lstm.bias_ih_l0'],
            tensors['lstm.weight_hh_l0'], tensors['lstm.bias_hh_l0'])]
        i, f, g, o = z[0:3], z[3:6], z[6:9], z[9:12]
        c = [sigmoid(f[j]) * c[j] + sigmoid(i[j]) * math.tanh(g[j]) for j in range(3)]
        h = [sigmoid(o[j]) * math.tanh(c[j]) for j in range(3)]
        for w, b, y in zip(tensors['out.weight'], tensors['out.bias'], wanted.pop(0)):
            worst = max(worst, abs(dot(w, h) + b - y))
            largest = max(largest, abs(y))
print(worst / largest, sorted(tensors))
)";

TEST_CASE("a language model's weights, as torch.nn.LSTM is documented, give the same logits") {
  if (!python("import safetensors")) SKIP_TEST("no Python package safetensors");
  for (const auto& [recipe, allowed] : {std::pair{recipes::fp32, 1e-5}, {recipes::fp16_master, 5e-3}}) {
    const auto said = compared_words(recipe, lstm_in_lists, "Words");
    REQUIRE(said.has_value());
    INFO(*said);
    CHECK(std::stod(*said) <= allowed);
    CHECK(said->find("['embedding.weight', 'lstm.bias_hh_l0', 'lstm.bias_ih_l0', 'lstm.weight_hh_l0', "
                     "'lstm.weight_ih_l0', 'out.bias', 'out.weight']") != std::string::npos);
  }
}

}  // namespace
}  // namespace tinymp::test
