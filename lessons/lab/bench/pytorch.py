"""The other side of pytorch.cpp: reads requests from standard input, answers each with a line of JSON.

    hello THREADS DEVICE                   -> {"version": ..., "built with": ..., "threads": ...}
    product M N K TA TB FORMAT             -> {"values": [...]}, some elements of one matrix product
    gemm M N K TA TB FORMAT RUNS           -> {"seconds": ...}, what one product of so many in a row takes
    model NAME                             -> {"parameters": ...}, how many numbers it has
    step NAME MODE RUNS                    -> {"seconds": ...}, the same for training steps on DEVICE

MODE is f32, f16 or bf16; with +compile the model is compiled, with +graph a step is one CUDA graph.
"""
import contextlib
import json
import re
import sys
import time

try:
    import torch
    from torch import nn
except Exception as error:  # not only ImportError: a library of it may not load, say
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    print(json.dumps({"error": f"this Python has no PyTorch ({reason})"}), flush=True)
    sys.exit(0)

FORMATS = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
device = "cpu"  # of training steps; hello may say cuda


# ---- time: as seconds_of() in race.cpp ----


def wait_for_threads():
    for _ in range(100):
        before = time.process_time()
        time.sleep(0.002)
        if time.process_time() - before < 0.0004:
            return


def wait_for_device():
    if device != "cpu":
        torch.cuda.synchronize()


def seconds_of(work, runs):
    wait_for_threads()
    if runs > 1:
        work()
    wait_for_device()
    start = time.perf_counter()
    for _ in range(runs):
        work()
    wait_for_device()
    seconds = time.perf_counter() - start
    wait_for_threads()  # the next to be timed is another process
    return seconds / runs


# ---- matrix products ----


def scattered(index, seed):
    return (index * 2654435761 + seed * 40503) >> 7


def operand(rows, cols, seed, dtype):
    """Eighths from -1 to 1, as in cpu_product.cpp: sums of their products are exact in FP32."""
    values = scattered(torch.arange(rows * cols), seed) % 17 - 8
    return (values.float() / 8).to(dtype).view(rows, cols)


class Product:
    def __init__(self, M, N, K, ta, tb, dtype):
        a = operand(K, M, 1, dtype).t() if ta else operand(M, K, 1, dtype)
        b = operand(N, K, 2, dtype).t() if tb else operand(K, N, 2, dtype)
        self.a, self.b, self.c = a, b, torch.empty(M, N, dtype=dtype)

    def multiply(self):
        torch.mm(self.a, self.b, out=self.c)

    def samples(self):
        self.c.fill_(float("nan"))
        self.multiply()
        size = self.c.numel()
        return self.c.view(-1)[scattered(torch.arange(64), 3) % size].double().tolist()


# ---- training steps: the models of step_models.cpp ----


def autoencoder(widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.Sigmoid()]
    return nn.Sequential(*layers)


def lenet():
    """LeCun et al. 1998, as it is trained on MNIST today: relu, max pooling, cross-entropy."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


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
        if self.grown:  # He et al. 2016, option A: every other pixel, and zeros for the new channels
            x = nn.functional.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, 0, self.grown))
        return torch.relu(x + y)


def resnet20():
    """He et al. 2016 (arXiv 1512.03385), section 4.2, n = 3."""
    blocks = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for outputs in (16, 32, 64):
        for i in range(3):
            blocks.append(Block(inputs, outputs, 2 if i == 0 and outputs > 16 else 1))
            inputs = outputs
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Words(nn.Module):
    """Ours has one bias in the LSTM; the second of PyTorch's stays 0."""

    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        nn.init.zeros_(self.lstm.bias_hh_l0).requires_grad_(False)
        self.out = nn.Linear(width, words)

    def forward(self, texts):
        return self.out(self.lstm(self.embedding(texts))[0]).flatten(0, 1)


class DecoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.parts = nn.Linear(width, 3 * width)  # query, key and value in one product: as many parameters as ours
        self.out = nn.Linear(width, width)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        B, T, W = x.shape
        q, k, v = self.parts(self.norm1(x)).view(B, T, 3, self.heads, W // self.heads).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # PyTorch 2.0 and newer
        x = x + self.out(y.transpose(1, 2).reshape(B, T, W))
        return x + self.second(nn.functional.gelu(self.first(self.norm2(x))))


class Decoder(nn.Module):
    """GPT-2's shape (Radford et al. 2019): the output is the embedding table once more."""

    def __init__(self, words, context, layers, width, heads):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(DecoderBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, texts):
        x = self.embedding(texts) + self.positions.weight[: texts.shape[1]]
        for block in self.blocks:
            x = block(x)
        return nn.functional.linear(self.norm(x), self.embedding.weight).flatten(0, 1)


def batch_norm_mlp():
    return nn.Sequential(nn.Linear(784, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 10))


class Residual(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.first = nn.Linear(784, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(blocks))
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(torch.relu(x))


# A fused optimizer takes the scale of the GradScaler on the device; a graph cannot hold the question to the CPU.
def sgd(parameters, fused):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, **({"fused": True} if fused else {}))


def adam(parameters, fused):
    return torch.optim.Adam(parameters, lr=1e-3, **({"fused": True, "capturable": True} if fused else {}))


TOKENS = {"words": 8192, "decoder": 4096}  # of models that read texts

MODELS = {  # model, batch, shape of an image, optimizer; without labels the image is the target
    "mlp": (lambda: nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)), 64, (784,), sgd),
    "wide": (lambda: nn.Sequential(nn.Linear(784, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)),
             2048, (784,), sgd),
    "autoencoder": (lambda: autoencoder((784, 64, 32, 64, 784)), 1024, (784,), adam),
    "lenet": (lenet, 64, (1, 28, 28), sgd),
    "resnet20": (resnet20, 128, (3, 32, 32), sgd),
    "words": (lambda: Words(TOKENS["words"], 32), 512, (16,), adam),  # texts of 16 words
    "decoder": (lambda: Decoder(TOKENS["decoder"], 128, layers=4, width=256, heads=8), 32, (128,), adam),
    "batchnorm": (batch_norm_mlp, 64, (784,), sgd),
    "residual": (lambda: Residual(64, 4), 64, (784,), adam),
}


BATCHES = 16  # as in step_models.cpp


class Training:
    """FP32, or autocast: FP16 with a GradScaler, BF16 without. The weights stay FP32 either way."""

    def __init__(self, name, mode):
        mode, _, way = mode.partition("+")
        torch.manual_seed(0)
        if mode == "f32":  # PyTorch would take TF32 for convolutions
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        make, batch, shape, optimizer = MODELS[name]
        self.model = make().to(device)
        self.optimizer = optimizer(self.model.parameters(), fused=way == "graph")
        if name in TOKENS:
            self.batches = [torch.randint(TOKENS[name], (batch, *shape)).to(device) for _ in range(BATCHES)]
        else:
            self.batches = [torch.rand(batch, *shape).to(device) for _ in range(BATCHES)]
        self.taken = 0
        labels = torch.randint(TOKENS[name], (batch * shape[0],)) if name in TOKENS else torch.arange(batch) % 10
        self.labels = None if name == "autoencoder" else labels.to(device)
        self.cast = contextlib.nullcontext
        if mode != "f32":
            self.cast = lambda: torch.autocast(device, dtype=FORMATS[mode])
        self.scaler = torch.amp.GradScaler(device) if mode == "f16" else None  # PyTorch 2.3 and newer
        if way == "compile":
            self.model = torch.compile(self.model)
        self.graph = self.captured() if way == "graph" else None

    def captured(self):
        """One step on a batch of its own, as torch.cuda.CUDAGraph wants it: some steps on another stream come first."""
        self.images = self.batches[0].clone()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step_on(self.images)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step_on(self.images)
        return graph

    def step(self):
        images = self.batches[self.taken % BATCHES]
        self.taken += 1
        if self.graph is None:
            self.step_on(images)
        else:
            self.images.copy_(images)
            self.graph.replay()

    def step_on(self, images):
        self.optimizer.zero_grad(set_to_none=True)
        with self.cast():
            y = self.model(images)
            if self.labels is None:
                loss = nn.functional.mse_loss(y.float(), images)
            else:
                loss = nn.functional.cross_entropy(y.float(), self.labels)
        if self.scaler is None:
            loss.backward()
            self.optimizer.step()
            return
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


# ---- requests ----

kept = {}  # what was asked for once is asked for again, until the race is over
kept_for = None


def keep(race, key, make):
    """A race is that of one model or of one shape. What takes part in it is made once, however many they are."""
    global kept_for
    if race != kept_for:
        kept.clear()
        kept_for = race
    if key not in kept:
        kept[key] = make()
    return kept[key]


def product_of(words):
    M, N, K, ta, tb = map(int, words[:5])
    return keep(words[:5], words[5], lambda: Product(M, N, K, ta, tb, FORMATS[words[5]]))


def built_with():
    text = torch.__config__.show()
    names = (("MKL", r"Math Kernel Library Version (\S+)"), ("oneDNN", r"MKL-DNN v(\S+)"),
             ("OpenBLAS", r"OpenBLAS[^\n]*?(\d+\.\d+\.\d+)"), ("instructions", r"CPU capability usage: (\S+)"))
    found = ((name, re.search(pattern, text)) for name, pattern in names)
    return ", ".join(f"{name} {match.group(1)}" for name, match in found if match)


def answer(request, *words):
    if request == "hello":
        global device
        device = words[1]
        torch.set_num_threads(int(words[0]))
        about = {"version": torch.__version__, "built with": built_with(), "threads": torch.get_num_threads()}
        if device == "cuda":  # raises without one
            about["built with"] = f"CUDA {torch.version.cuda} on {torch.cuda.get_device_name()}"
        return about
    if request == "product":
        return {"values": product_of(words).samples()}
    if request == "gemm":
        return {"seconds": seconds_of(product_of(words).multiply, int(words[6]))}
    if request == "model":
        return {"parameters": sum(p.numel() for p in MODELS[words[0]][0]().parameters() if p.requires_grad)}
    if request == "step":
        training = keep(words[0], words[1], lambda: Training(*words[:2]))
        return {"seconds": seconds_of(training.step, int(words[2]))}
    raise ValueError("unknown request")


for line in sys.stdin:
    try:
        reply = answer(*line.split())
    except Exception as error:  # a format that this build lacks, say: the other columns go on
        reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    print(json.dumps(reply), flush=True)
