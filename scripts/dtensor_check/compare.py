"""Networks under exported placements beside the same networks whole, on a process a rank (gloo).

    PYTHON scripts/dtensor_check/compare.py CASES.json

CASES is a list of {"network", "module"}: of networks.py, and a file that strata export dtensor
wrote for as many devices as all others are for. Prints JSON, in their order: "loss" and "gradient",
how far the two are apart, of each tensor by its length, and "collectives"; or "error".
"""

import datetime
import json
import os
import socket
import sys

import torch
import torch.distributed
import torch.multiprocessing
from torch import nn
from torch.distributed.tensor.debug import CommDebugMode
from torch.nn import functional

import networks


# After which ranks give up one that failed alone.
PATIENCE = datetime.timedelta(seconds=60)


class Loss(nn.Module):
    def __init__(self, cross_entropy):
        super().__init__()
        self.cross_entropy = cross_entropy

    def forward(self, logits, labels):
        return self.cross_entropy(logits, labels)


def whole_loss(logits, labels):
    return functional.cross_entropy(logits.movedim(-1, 1), labels)


def load(file):
    module = {}
    with open(file) as text:
        exec(compile(text.read(), file, "exec"), module)
    return module


def whole(tensor):
    return getattr(tensor, "full_tensor", lambda: tensor)().detach()


def step(network, labels, data):
    """The loss, gradients by name, and how many collectives of each kind there were, forward and
    backward."""
    forward, backward = CommDebugMode(), CommDebugMode()
    with forward:
        loss = network(labels, **data)
    with backward:
        loss.backward()
    collectives = [{str(kind).rpartition(".")[2]: count for kind, count in counts.items()}
                   for counts in (forward.get_comm_counts(), backward.get_comm_counts())]
    gradients = {name: whole(p.grad) for name, p in network.named_parameters()}
    return whole(loss), gradients, collectives


def compare(network, cut):
    labels, data = networks.data_of(network)
    loss, gradients, _ = step(networks.build(network, Loss(whole_loss)), labels, data)
    model = networks.build(network, Loss(cut["cross_entropy"]))
    layers = {layer for layer in cut["LAYERS"] if "pooler" not in layer}
    if network == "bert":  # whose pooler feeds no loss
        layers.discard("first_token")
    missing = layers - {name for name, _ in model.named_modules()}
    assert not missing, f"no module is called {missing}"
    cut["parallelize"](model, cut["device_mesh"]("cpu"))
    with cut["loss_context"]():
        cut_loss, cut_gradients, collectives = step(model, labels, data)
    assert gradients.keys() == cut_gradients.keys()
    # What sums cancel (a key's bias) is rounding: held to a hundredth of the largest gradient.
    least = 0.01 * max(gradient.norm() for gradient in gradients.values())
    apart = {name: ((cut_gradients[name] - gradient).norm() / max(gradient.norm(), least)).item()
             for name, gradient in gradients.items()}
    worst = max(apart, key=apart.get)
    return {"loss": ((cut_loss - loss).abs() / loss).item(), "gradient": apart[worst],
            "worst": worst, "collectives": collectives}


def work(rank, cases, ranks, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks, timeout=PATIENCE)
    for case in cases:
        try:
            answer = compare(case["network"], load(case["module"]))
        except Exception as error:  # the same on all ranks, which read the same tables
            answer = {"error": f"{type(error).__name__}: {error}"}
        if rank == 0:
            with open(case["module"] + ".json", "w") as file:
                json.dump(answer, file)
    torch.distributed.barrier()
    os._exit(0)  # gloo's threads may abort a process that ends as others do


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def main():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    ranks = len(load(cases[0]["module"])["DEVICES"])
    torch.multiprocessing.spawn(work, (cases, ranks, free_port()), nprocs=ranks)
    answers = []
    for case in cases:
        with open(case["module"] + ".json") as file:
            answers.append(json.load(file))
    print(json.dumps({"torch": torch.__version__, "cases": answers}))


if __name__ == "__main__":
    main()
