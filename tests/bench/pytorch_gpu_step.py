#!/usr/bin/env python3
"""Training steps of PyTorch on a GPU, on demand: what Strata's GPU backend is compared with.

    tests/bench/pytorch_gpu_step.py [--device cuda:0]

Needs torch and torchvision. Writes a line of JSON that says what it runs on, then reads requests, a
line of JSON each, and answers each with one:
  {"do": "ceilings"}                                  -> what the GPU's products and copies reach
  {"do": "load", "network", "batch", "dtype", "compile"} -> makes this the network that steps
  {"do": "steps", "warmup", "count"}                  -> {"step_seconds": [...]}, by the GPU's clock
An answer {"error": ...} says why there is none. The end of the input ends it.

A step is what a user writes, at its best: channels_last, cudnn.benchmark, cross-entropy, plain SGD
(fused, no momentum), gradients set to None, images and labels on the GPU, nothing read back in
between. dtype tf32: fp32 tensors, TF32 in products and convolutions; bf16: autocast over fp32
weights, so that updates are made in fp32, as Strata makes them; fp32: no TF32 anywhere.
"""

import argparse
import json
import sys
import time

SIDES = {"inception_v3": 299, "lenet5": 32}
CLASSES = 1000


def build(network):
    import torch
    from torchvision import models

    if network == "lenet5":  # which torchvision has not: for trying this out on small machines
        return torch.nn.Sequential(
            torch.nn.Conv2d(1, 6, 5), torch.nn.Tanh(), torch.nn.AvgPool2d(2),
            torch.nn.Conv2d(6, 16, 5), torch.nn.Tanh(), torch.nn.AvgPool2d(2),
            torch.nn.Conv2d(16, 120, 5), torch.nn.Flatten(), torch.nn.Tanh(),
            torch.nn.Linear(120, 84), torch.nn.Tanh(), torch.nn.Linear(84, 10)).train()
    # Inception as in Strata's zoo: without its auxiliary head. Its own initial weights take a minute
    # to draw and change no step's time.
    options = {"aux_logits": False, "init_weights": False} if network == "inception_v3" else {}
    return getattr(models, network)(weights=None, **options).train()


class Trainer:
    def __init__(self, device, network, batch, dtype, compiled):
        import torch

        self.torch, self.device, self.autocast = torch, device, dtype == "bf16"
        for backend in (torch.backends.cuda.matmul, torch.backends.cudnn):
            backend.allow_tf32 = dtype != "fp32"
        torch.backends.cudnn.benchmark = True
        side, small = SIDES.get(network, 224), network == "lenet5"
        torch.manual_seed(1)
        layout = {"device": device, "memory_format": torch.channels_last}
        self.model = build(network).to(**layout)
        self.images = torch.randn(batch, 1 if small else 3, side, side).to(**layout)
        self.labels = torch.randint(10 if small else CLASSES, (batch,), device=device)
        self.loss = torch.nn.CrossEntropyLoss()
        fused = {"fused": True} if device.type == "cuda" else {}
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, **fused)
        self.forward = torch.compile(self.forward_loss) if compiled else self.forward_loss

    def forward_loss(self, images, labels):
        return self.loss(self.model(images), labels)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.torch.autocast(self.device.type, dtype=self.torch.bfloat16,
                                 enabled=self.autocast):
            loss = self.forward(self.images, self.labels)
        loss.backward()
        self.optimizer.step()

    def seconds(self, warmup, count):
        """Of each of `count` steps, after half a second and `warmup` steps that do not count."""
        until = time.perf_counter() + 0.5
        while warmup > 0 or time.perf_counter() < until:
            self.step()
            warmup -= 1
            synchronize(self.torch, self.device)
        if self.device.type != "cuda":
            return [timed(self.step) for _ in range(count)]
        return self.by_events(count)

    def by_events(self, count):
        marks = [self.torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        marks[0].record()
        for mark in marks[1:]:
            self.step()
            mark.record()
        self.torch.cuda.synchronize(self.device)
        return [a.elapsed_time(b) * 1e-3 for a, b in zip(marks, marks[1:])]


def synchronize(torch, device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_seconds(torch, device, work, count=10):
    for _ in range(3):
        work()
    synchronize(torch, device)
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        synchronize(torch, device)
        times.append(time.perf_counter() - start)
    return sorted(times)[count // 2]


def ceilings(device):
    """Flop/s of large products of random matrices by type, and bytes/s, read and written, of a large
    copy."""
    import torch

    side = 8192 if device.type == "cuda" else 512
    found = {}
    for name, dtype, tf32 in (("bf16", torch.bfloat16, True), ("tf32", torch.float32, True),
                              ("fp32", torch.float32, False)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a, b = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        seconds = median_seconds(torch, device, lambda: torch.matmul(a, b, out=out))
        found[f"{name}_flops_per_second"] = 2 * side**3 / seconds
    source = torch.randn(2**30 if device.type == "cuda" else 2**22, device=device)
    target = torch.empty_like(source)
    seconds = median_seconds(torch, device, lambda: target.copy_(source))
    found["copy_bytes_per_second"] = 2 * 4 * source.numel() / seconds
    return found


class Worker:
    def __init__(self, device):
        import torch

        self.torch, self.device, self.trainer = torch, torch.device(device), None

    def load(self, network, batch, dtype, compile):
        self.trainer = None  # its memory is free for the next
        if self.device.type == "cuda":
            self.torch.cuda.empty_cache()
        if compile:
            self.torch._dynamo.reset()
        began = time.perf_counter()
        self.trainer = Trainer(self.device, network, batch, dtype, compile)
        self.trainer.step()
        synchronize(self.torch, self.device)
        return {"load_seconds": time.perf_counter() - began}

    def answer(self, request):
        do = request.pop("do")
        if do == "ceilings":
            return ceilings(self.device)
        if do == "load":
            return self.load(**request)
        if do == "steps":
            return {"step_seconds": self.trainer.seconds(request["warmup"], request["count"])}
        raise ValueError(f"no request '{do}'")

    def about(self):
        name = (self.torch.cuda.get_device_name(self.device) if self.device.type == "cuda"
                else "cpu")
        return {"torch": self.torch.__version__, "cuda": self.torch.version.cuda,
                "cudnn": self.torch.backends.cudnn.version(), "device": name}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0", help="cuda:N, or cpu to try it out (cuda:0)")
    options = parser.parse_args()
    try:
        worker = Worker(options.device)
    except ImportError as error:
        print(f"pytorch_gpu_step.py: error: {error}", file=sys.stderr)
        sys.exit(3)
    print(json.dumps(worker.about()), flush=True)
    for line in sys.stdin:
        try:
            reply = worker.answer(json.loads(line))
        except Exception as error:  # of one network, which must not end the others
            reply = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
