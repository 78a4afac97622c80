#!/usr/bin/python3
"""One training step of PyTorch at a time, on one core, on demand: what Strata's CPU is compared with.

    tests/bench/pytorch_step.py NETWORK [--batch N] [--core K]

Needs Debian's python3-torch and python3-torchvision (hence its Python). Builds the network, writes
the line {"network", "batch", "torch", "core"} and then reads lines: "step" runs one step and answers
{"step_seconds"}; "quit", or the end of the input, ends. Whoever asks decides when, so that two
programs can take turns on a machine whose speed drifts.

A step is what a user writes: zero_grad, forward, cross-entropy, backward, plain SGD, in fp32 and
training mode, on the same random images or tokens each time. The thread is pinned before PyTorch starts, as
Strata pins its devices' threads.
"""

import argparse
import json
import os
import sys
import time

# Network: its usual batch here, and the images' side, or the tokens.
NETWORKS = {"alexnet": (16, 224), "vgg16": (4, 224), "inception_v3": (4, 299), "resnet50": (4, 224),
            "vit_b_16": (4, 224), "gpt2": (1, 256), "bert-base": (2, 128)}


def pin(core):
    os.sched_setaffinity(0, {core})
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"


def answer(message):
    print(json.dumps(message), flush=True)


def build(network):
    if network in ("gpt2", "bert-base"):
        import pytorch_tokens

        return (pytorch_tokens.Gpt if network == "gpt2" else pytorch_tokens.Bert)().train()
    from torchvision import models

    # Inception as in Strata's zoo: without its auxiliary head. Its own initial weights take a minute
    # to draw and change no step's time.
    options = {"aux_logits": False, "init_weights": False} if network == "inception_v3" else {}
    return getattr(models, network)(weights=None, **options).train()


class Trainer:
    def __init__(self, network, batch):
        import torch

        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)
        torch.manual_seed(1)
        size = NETWORKS[network][1]
        self.model = build(network)
        if hasattr(self.model, "vocabulary"):
            self.data = torch.randint(self.model.vocabulary, (batch, size))
            self.labels = torch.randint(self.model.vocabulary, (batch * size,))
        else:
            self.data = torch.randn(batch, 3, size, size)
            self.labels = torch.randint(1000, (batch,))
        self.loss = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.version = torch.__version__

    def step(self):
        """Seconds of one step."""
        start = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        outputs = self.model(self.data)
        self.loss(outputs.reshape(-1, outputs.shape[-1]), self.labels).backward()
        self.optimizer.step()
        return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--batch", type=int, help="images a step; the network's usual one here")
    parser.add_argument("--core", type=int, default=min(os.sched_getaffinity(0)),
                        help="the core to run on; the first that may be used")
    options = parser.parse_args()
    batch = options.batch or NETWORKS[options.network][0]
    pin(options.core)
    try:
        trainer = Trainer(options.network, batch)
    except ImportError as error:
        print(f"pytorch_step.py: error: {error}; install Debian's packages python3-torch and "
              "python3-torchvision", file=sys.stderr)
        sys.exit(3)
    answer({"network": options.network, "batch": batch, "torch": trainer.version,
            "core": options.core})
    for line in sys.stdin:
        if line.strip() == "quit":
            return
        if line.strip() != "step":
            sys.exit(f"pytorch_step.py: error: '{line.strip()}' is neither 'step' nor 'quit'")
        answer({"step_seconds": trainer.step()})


if __name__ == "__main__":
    main()
