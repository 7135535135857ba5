#!/usr/bin/env python3
"""Records 100 steps of each torch.optim optimizer in float64: the check that reference_optimizers.h is right.

    python3 -m venv torch-venv && torch-venv/bin/pip install torch==2.15.0
    torch-venv/bin/python tests/optim/record_torch_optimizers.py       # writes torch_optimizers.json beside itself

Weights and gradients are small integers times a power of two, so that C++ makes the very same numbers:
    w[i]    = ((29 i + 3) mod 17 - 8) / 8                                       before step 1
    g[t][i] = ((37 t + 101 i + 7 t i) mod 257 - 128) * 2^-(8 + 3 i)             in step t = 1, 2, ... 100
The later parameters have gradients near Adam's epsilon. Every tenth step the weights are written as hex doubles.
"""

import datetime
import json
import pathlib
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch  # noqa: E402

PARAMETERS, STEPS, EVERY = 8, 100, 10

CASES = [
    ("sgd", torch.optim.SGD, dict(lr=0.05)),
    ("sgd", torch.optim.SGD, dict(lr=0.05, weight_decay=0.01)),
    ("sgd", torch.optim.SGD, dict(lr=0.05, momentum=0.9)),
    ("sgd", torch.optim.SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.01)),
    ("adam", torch.optim.Adam, dict(lr=0.01, betas=(0.9, 0.999), eps=1e-8)),
    ("adam", torch.optim.Adam, dict(lr=0.01, betas=(0.8, 0.95), eps=1e-5, weight_decay=0.05)),
    ("adamw", torch.optim.AdamW, dict(lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)),
    ("adamw", torch.optim.AdamW, dict(lr=0.02, betas=(0.8, 0.95), eps=1e-5, weight_decay=0.2)),
    ("adagrad", torch.optim.Adagrad, dict(lr=0.05, eps=1e-10)),
    ("adagrad", torch.optim.Adagrad, dict(lr=0.05, eps=1e-6, weight_decay=0.05)),
]


def initial_weights():
    return [((29 * i + 3) % 17 - 8) / 8 for i in range(PARAMETERS)]


def gradient(t):
    return [((37 * t + 101 * i + 7 * t * i) % 257 - 128) * 2.0 ** -(8 + 3 * i) for i in range(PARAMETERS)]


def record(name, kind, options):
    weights = torch.nn.Parameter(torch.tensor(initial_weights(), dtype=torch.float64))
    optimizer = kind([weights], foreach=False, **options)
    steps = []
    for t in range(1, STEPS + 1):
        weights.grad = torch.tensor(gradient(t), dtype=torch.float64)
        optimizer.step()
        if t % EVERY == 0:
            steps.append(dict(step=t, weights=[w.hex() for w in weights.tolist()]))
    written = {k: v for k, v in options.items() if k != "betas"}
    if "betas" in options:
        written["beta1"], written["beta2"] = options["betas"]
    return dict(optimizer=name, options=written, steps=steps)


def main():
    header = dict(
        what="torch.optim in float64, see record_torch_optimizers.py for the gradients",
        torch=torch.__version__,
        date=datetime.date.today().isoformat(),
        command="python tests/optim/record_torch_optimizers.py",
    )
    runs = [record(*case) for case in CASES]
    lines = ['{"header": ' + json.dumps(header) + ",", '"runs": [']
    for r, run in enumerate(runs):
        lines.append('{"optimizer": ' + json.dumps(run["optimizer"]) + ', "options": ' + json.dumps(run["options"]) +
                     ', "steps": [')
        lines.append(",\n".join(json.dumps(step) for step in run["steps"]))
        lines.append("]}" + ("," if r + 1 < len(runs) else ""))
    lines.append("]}")
    path = pathlib.Path(__file__).with_name("torch_optimizers.json")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(runs)} runs, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
