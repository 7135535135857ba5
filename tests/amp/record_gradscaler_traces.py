#!/usr/bin/env python3
"""Records what a real torch.amp.GradScaler does: the oracle of scaler_model.h, which is the oracle of LossScaler.

    python3 -m venv torch-venv && torch-venv/bin/pip install torch==2.15.0
    torch-venv/bin/python tests/amp/record_gradscaler_traces.py        # writes gradscaler_traces.json beside itself

Nothing here computes a scale. Every step goes the whole way through PyTorch on the CPU: forward, scale(loss),
backward, step(optimizer), update(); a bad step has inf or nan put into one gradient before step(). Whether an
optimizer stepped is seen in its parameters: zero before the step, anything else after it.

A trace is a list of rows; equal steps in a row are folded together:
    [count, bad, stepped, scale, tracker, increment]
`bad` and `stepped` have one character for each optimizer; `scale` holds the bits of the float after the step;
`tracker` is the growth tracker after the first step of the row, and moves by `increment` in each step after it.
    {"load": {...}}
the scaler is replaced by a new one, made with other arguments, that is given this state dictionary.
"""

import datetime
import json
import math
import pathlib
import random
import struct
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch  # noqa: E402

FLOAT_MAX = (2 - 2**-23) * 2.0**127
INF, NAN = math.inf, math.nan


def bits(x):
    return f"{struct.unpack('<I', struct.pack('<f', x))[0]:08x}"


class Recorder:
    def __init__(self, name, initial=65536.0, growth=2.0, backoff=0.5, interval=2000, optimizers=1):
        self.trace = dict(name=name, initial=bits(initial), growth=growth, backoff=backoff, interval=interval,
                          optimizers=optimizers, rows=[])
        self.scaler = torch.amp.GradScaler("cpu", init_scale=initial, growth_factor=growth, backoff_factor=backoff,
                                           growth_interval=interval)
        # 19 elements: the vector loop of the check and its tail both see bad values.
        self.parameters = [torch.nn.Parameter(torch.zeros(19)) for _ in range(optimizers)]
        self.optimizers = [torch.optim.SGD([p], lr=1.0) for p in self.parameters]
        self.places = random.Random(name)
        self.steps = 0

    def step(self, *injected, coefficient=1.0, through_half=False, times=1):
        """One training step. injected: for each optimizer None, or the value put into one of its gradients."""
        for _ in range(times):
            self._step(injected or (None,) * len(self.optimizers), coefficient, through_half)

    def _step(self, injected, coefficient, through_half):
        for parameter in self.parameters:
            with torch.no_grad():
                parameter.zero_()
            parameter.grad = None
        if through_half:  # the error passes through an FP16 product, as in a real mixed-precision network
            loss = sum((p.half() * torch.tensor(coefficient, dtype=torch.float16)).float().sum()
                       for p in self.parameters)
        else:
            loss = sum((p * coefficient).sum() for p in self.parameters)
        self.scaler.scale(loss).backward()
        for parameter, value in zip(self.parameters, injected):
            if value is not None:
                parameter.grad[self.places.randrange(parameter.numel())] = value
        bad = "".join(str(int(not torch.isfinite(p.grad).all())) for p in self.parameters)
        if self.steps % 3 == 0:  # an explicit unscale_() and the one hidden in step() must not differ
            for optimizer in self.optimizers:
                self.scaler.unscale_(optimizer)
        for optimizer in self.optimizers:
            self.scaler.step(optimizer)
        stepped = "".join(str(int(bool((p.detach() != 0).any()))) for p in self.parameters)
        self.scaler.update()
        self.steps += 1
        self._append(bad, stepped, bits(self.scaler.get_scale()), self.scaler._get_growth_tracker())

    def _append(self, bad, stepped, scale, tracker):
        rows = self.trace["rows"]
        if rows and isinstance(rows[-1], list):
            count, *same, first, increment = rows[-1]
            if same == [bad, stepped, scale]:
                if count == 1 and tracker - first in (0, 1):
                    rows[-1] = [2, bad, stepped, scale, first, tracker - first]
                    return
                if count > 1 and tracker == first + count * increment:
                    rows[-1][0] += 1
                    return
        rows.append([1, bad, stepped, scale, tracker, 1])

    def save(self):
        return json.loads(json.dumps(self.scaler.state_dict()))

    def load(self, state):
        self.scaler = torch.amp.GradScaler("cpu", init_scale=3.0, growth_factor=7.0, backoff_factor=0.125,
                                           growth_interval=11)
        self.scaler.load_state_dict(state)
        recorded = dict(scale=bits(state["scale"]), growth=state["growth_factor"], backoff=state["backoff_factor"],
                        interval=state["growth_interval"], tracker=state["_growth_tracker"])
        assert struct.unpack("<f", bytes.fromhex(recorded["scale"])[::-1])[0] == state["scale"]
        self.trace["rows"].append({"load": recorded})


def random_value(rng):
    return rng.choice((INF, -INF, NAN))


def random_runs(traces):
    """Good and bad steps by chance, from hardly ever to nearly always bad."""
    seed = 0
    for probability in (0.01, 0.1, 0.3, 0.5, 0.9):
        for growth, backoff, interval in ((2.0, 0.5, 5), (2.0, 0.5, 1), (1.5, 0.7, 3), (1.001, 0.999, 2)):
            seed += 1
            rng = random.Random(seed)
            r = Recorder(f"random p={probability} {growth}/{backoff} every {interval}",
                         rng.choice((65536.0, 1.0, 1000.0, 0.1, 2.0**40)), growth, backoff, interval)
            for _ in range(120):
                r.step(random_value(rng) if rng.random() < probability else None)
            traces.append(r)


def limits(traces):
    # At S = 2^120 a good step doubles up to 2^127; 2^128 is no float, so the scale stays and the tracker restarts.
    for initial, growth, interval, steps in ((2.0**120, 2.0, 1, 20), (2.0**120, 2.0, 3, 40), (2.0**120, 1.5, 1, 30),
                                             (FLOAT_MAX, 2.0, 2, 8), (FLOAT_MAX, 1.0 + 2**-26, 1, 6),
                                             (FLOAT_MAX, 1.0 + 2**-24, 1, 6), (3e38, 1.1, 1, 10), (1.0, 1e30, 1, 10)):
        r = Recorder(f"grow from {initial:g} by {growth:.17g} every {interval}", initial, growth, 0.5, interval)
        r.step(coefficient=2.0**-20, times=steps)
        r.step(INF)
        r.step(coefficient=2.0**-20, times=steps)
        traces.append(r)
    # Nothing stops the way down: below 1, through the subnormals, to 0; there growing does not help any more.
    for backoff, growth, interval in ((0.5, 2.0, 2), (0.7, 1.5, 2), (1e-10, 3.0, 1), (0.999999, 2.0, 1)):
        r = Recorder(f"shrink to 0 by {backoff:.17g}", 2.0**-120 if backoff > 0.1 else 1.0, growth, backoff, interval)
        r.step(NAN, times=80)
        r.step(times=5)
        r.step(-INF, times=2)
        traces.append(r)
    # From the smallest float by 0.7: 2^-149 * 0.7 rounds back to 2^-149. By 0.5: a tie, which goes to 0.
    for backoff in (0.7, 0.5):
        r = Recorder(f"smallest float times {backoff}", 2.0**-149, 2.0, backoff, 2)
        r.step(INF, times=3)
        r.step(times=4)
        traces.append(r)
    # Through the subnormals and back up again before it is too late.
    r = Recorder("into the subnormals and out", 2.0**-130, 2.0, 0.5, 1)
    for value, count in ((INF, 15), (None, 30), (NAN, 3), (None, 2)):
        r.step(value, times=count)
    traces.append(r)


def rounding(traces):
    """The product is formed in double and rounded to float once; factors that are no floats show it."""
    for growth, backoff in ((1.5, 0.7), (1.1, 0.9), (3.0, 1 / 3), (1.0000001, 0.9999999), (2.7182818284590452, 0.1)):
        rng = random.Random(f"{growth}")
        r = Recorder(f"rounding {growth:.17g}/{backoff:.17g}", 12345.678, growth, backoff, 1)
        for _ in range(150):
            r.step(INF if rng.random() < 0.5 else None, coefficient=2.0**-20)
        traces.append(r)
    # A backoff factor above 0 only in double: the scale becomes 0 at once.
    r = Recorder("backoff 1e-60", 65536.0, 2.0, 1e-60, 2)
    for value in (None, None, INF, None, None):
        r.step(value)
    traces.append(r)


def long_runs(traces):
    """The defaults of PyTorch, and the tracker over long stretches."""
    r = Recorder("defaults")
    for good, bad in ((2500, 1), (1999, 1), (2000, 2), (4001, 1), (1, 1), (3999, 0)):
        r.step(times=good)
        if bad:
            r.step(NAN, times=bad)
    traces.append(r)
    for initial in (1.0, 2.0**120, 24.0, 1e-3):
        r = Recorder(f"defaults from {initial:g}", initial)
        r.step(coefficient=2.0**-20, times=2100)
        r.step(INF, times=3)
        r.step(coefficient=2.0**-20, times=2000)
        traces.append(r)


def natural(traces):
    """No injected value: the gradient c * S overflows by itself, in FP16 at 65520 and in FP32 at 2^128."""
    rng = random.Random(77)
    r = Recorder("overflow of FP16 by itself", 2.0**24, 2.0, 0.5, 8)
    for step in range(300):
        r.step(coefficient=2.0 ** rng.randrange(-6, 4) if step < 150 else 2.0**-8, through_half=True)
    traces.append(r)
    r = Recorder("overflow of FP32 by itself", 2.0**121, 2.0, 0.5, 2)
    for _ in range(60):
        r.step(coefficient=rng.choice((1.0, 4.0, 0.25, 16.0)))
    traces.append(r)


def sharing(traces):
    """Several optimizers, one scaler: one bad one backs the scale off once, the good ones step."""
    for optimizers, probability in ((2, 0.2), (2, 0.6), (3, 0.25)):
        rng = random.Random(optimizers * 1000 + int(probability * 100))
        r = Recorder(f"{optimizers} optimizers p={probability}", 65536.0, 2.0, 0.5, 4, optimizers)
        for _ in range(120):
            r.step(*(random_value(rng) if rng.random() < probability else None for _ in range(optimizers)))
        traces.append(r)
    r = Recorder("2 optimizers, each combination", 1024.0, 2.0, 0.5, 3, 2)
    for pair in ((None, None), (INF, None), (None, NAN), (-INF, NAN), (None, None), (None, None), (None, None)):
        r.step(*pair)
    traces.append(r)


def saving(traces):
    rng = random.Random(5)
    for growth, backoff, interval in ((2.0, 0.5, 6), (1.5, 0.7, 4)):
        r = Recorder(f"saved and restored {growth}/{backoff}", 65536.0, growth, backoff, interval)
        for _ in range(8):
            for _ in range(rng.randrange(1, 20)):
                r.step(INF if rng.random() < 0.1 else None)
            r.load(r.save())
        traces.append(r)
    r = Recorder("back to an older state", 512.0, 2.0, 0.5, 4)
    r.step(times=6)
    older = r.save()
    r.step(INF, times=5)
    r.step(times=3)
    r.load(older)
    r.step(times=9)
    traces.append(r)
    # The tracker is compared for equality: restored at or beyond the interval it never meets it again.
    for tracker in (4, 9):
        r = Recorder(f"tracker restored as {tracker} with interval 4", 512.0, 2.0, 0.5, 4)
        r.step(times=2)
        r.load({**r.save(), "_growth_tracker": tracker})
        r.step(times=12)
        r.step(INF)
        r.step(times=5)
        traces.append(r)
    r = Recorder("saved at 0 and at the top", 2.0**127, 2.0, 0.5, 2)
    r.step(coefficient=0.5, times=3)
    r.load(r.save())
    r.step(coefficient=0.5, times=2)
    r.load({**r.save(), "scale": 2.0**-149})
    r.step(INF, times=2)
    r.load(r.save())
    r.step(times=5)
    traces.append(r)


def main():
    recorders = []
    for part in (random_runs, limits, rounding, long_runs, natural, sharing, saving):
        part(recorders)
    header = dict(
        what="torch.amp.GradScaler('cpu'), see record_gradscaler_traces.py for the format",
        torch=torch.__version__,
        date=datetime.date.today().isoformat(),
        command="python tests/amp/record_gradscaler_traces.py",
        traces=len(recorders),
        steps=sum(r.steps for r in recorders),
    )
    lines = ['{"header": ' + json.dumps(header) + ',', '"traces": [']
    for i, recorder in enumerate(recorders):
        lines.append(json.dumps(recorder.trace, separators=(",", ":")) + ("," if i + 1 < len(recorders) else ""))
    lines.append("]}")
    path = pathlib.Path(__file__).with_name("gradscaler_traces.json")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {header['traces']} traces, {header['steps']} steps, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
