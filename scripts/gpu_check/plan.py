"""What is run: on the GPU, or small on this machine's cores where only the script itself is tried."""

import dataclasses

# Of the four networks that predictions and PyTorch are compared on, the paper has three.
NETWORKS = ["resnet50", "alexnet", "inception_v3", "vgg16"]
PAPER = {"alexnet": 1, "vgg16": 0, "inception_v3": 1}  # Table 4, 1 GPU: error in per cent
PAPER_BATCH = 32
STRATEGIES = "data,model,owt,optimal"


@dataclasses.dataclass(frozen=True)
class Plan:
    devices: tuple  # from one to many: what predictions are held against
    dtypes: tuple
    networks: tuple
    batches: tuple
    torch_device: str
    stand_in: bool = False

    @property
    def one(self):
        return self.devices[0]

    @property
    def shared(self):
        return self.devices[min(1, len(self.devices) - 1)]

    def cases(self):
        """Network, batch, dtype: all networks before the next batch or type, so that what time cuts
        off is a variant and no network."""
        return [(network, batch, dtype) for dtype in self.dtypes for batch in self.batches
                for network in self.networks]

    def runs(self):
        """The same on each of the devices: all networks on one before any on several."""
        return [(network, batch, dtype, devices) for dtype in self.dtypes for batch in self.batches
                for devices in self.devices for network in self.networks]


def plan_for(devices):
    """`devices`: cuda:I, or cpu:N for a stand-in."""
    kind, _, number = devices.partition(":")
    if kind == "cuda" and number.isdigit():
        ladder = (devices, f"{devices}/2", f"{devices}/4")
        return Plan(ladder, ("tf32", "bf16"), tuple(NETWORKS), (PAPER_BATCH, 256), devices)
    if kind == "cpu" and number.isdigit() and int(number) > 0:
        ladder = tuple(f"cpu:{n}" for n in sorted({1, int(number)}))
        return Plan(ladder, ("fp32",), ("lenet5",), (8,), "cpu", stand_in=True)
    raise ValueError(f"no devices '{devices}'; allowed: cuda:I, a GPU, or cpu:N, cores that stand in")
