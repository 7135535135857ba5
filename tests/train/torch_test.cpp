#include <tests/train/resume.h>
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

}  // namespace
}  // namespace tinymp::test
