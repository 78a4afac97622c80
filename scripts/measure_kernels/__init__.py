"""The parts of scripts/measure-kernels: kernels of training steps, timed with PyTorch."""
