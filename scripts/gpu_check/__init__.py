"""The parts of scripts/gpu-check: Strata's checks on a machine with a GPU."""
