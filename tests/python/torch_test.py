"""Networks of PyTorch's libraries are those of the zoo: the same parameters, the same
multiply-accumulates, the same predictions.

Exits with 77 where what makes them is not installed. STRATA_TORCH_PYTHON names a Python that has it,
and that then runs this test.
"""

import importlib.util
import os
import sys
import unittest

NEEDED = ("torch", "torchvision", "transformers", "onnx", "onnxscript")


def resnet50():
    import torch
    import torchvision
    return torchvision.models.resnet50(), torch.zeros(2, 3, 224, 224)


def vit_b_16():
    import torch
    import torchvision
    return torchvision.models.vit_b_16(), torch.zeros(2, 3, 224, 224)


def gpt2():
    import torch
    import transformers
    return (transformers.GPT2LMHeadModel(transformers.GPT2Config()),
            torch.zeros(2, 1024, dtype=torch.long))


class Torch(unittest.TestCase):
    def test_networks_are_the_zoos(self):
        import strata
        for make in (resnet50, vit_b_16, gpt2):
            name = make.__name__
            with self.subTest(name):
                module, example = make()
                module.eval()
                ours, theirs = strata.from_torch(module, example), strata.Graph.load(name)
                self.assertEqual((ours.parameters, ours.macs), (theirs.parameters, theirs.macs))
                self.assertEqual(ours.parameters, sum(each.numel() for each in module.parameters()))
                self.assertEqual(ours.name, type(module).__name__)
                self.assertFalse(module.training, "the module's mode is as it was")

    def test_a_module_of_ones_own_is_predicted_and_trained(self):
        import torch
        import strata
        torch.manual_seed(1)
        module = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
            torch.nn.Linear(4 * 8 * 8, 10))
        net = strata.from_torch(module, torch.zeros(2, 1, 8, 8), name="mine")
        self.assertEqual(net.name, "mine")
        step = strata.predict(net, cluster="p100-1x2", strategy="data")
        # Each of two devices gets the other's sums of all gradients.
        self.assertEqual(step.comm_bytes, 2 * 4 * net.parameters)
        self.assertEqual(len(strata.run(net, devices="cpu:1", batch=4, steps=2).losses), 2)

    def test_what_no_layer_stands_for_is_an_error(self):
        import torch
        import strata

        class Sorted(torch.nn.Module):
            def forward(self, x):
                return torch.sort(x, dim=1)[0]

        with self.assertRaises(strata.InputError):
            strata.from_torch(Sorted(), torch.zeros(2, 8))


if __name__ == "__main__":
    other = os.environ.pop("STRATA_TORCH_PYTHON", "")
    if other:
        os.execv(other, [other, "-B", *sys.argv])
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print(f"skipped: {', '.join(absent)}: not installed; "
              f"pip install {' '.join(NEEDED)}, or STRATA_TORCH_PYTHON names a Python that has them")
        sys.exit(77)
    unittest.main()
