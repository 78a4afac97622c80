"""What this machine has: GPUs, the folders of NVIDIA's libraries, tools."""

import glob
import os
import pathlib
import re
import shutil
import sys

from gpu_check import processes

GPU_FIELDS = ["name", "driver_version", "memory.total", "clocks.sm", "clocks.max.sm",
              "clocks.mem", "power.limit", "temperature.gpu"]
# Where nothing is timed, engines of cuDNN need not be either.
UNTIMED = {"STRATA_CUDA_ENGINES": "first"}
GPUS_SECONDS = 15  # a driver that is wedged never answers


def parse_gpus(text):
    """A dict for each line of `nvidia-smi --query-gpu=... --format=csv,noheader`."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    return [dict(zip(GPU_FIELDS, row)) for row in rows if len(row) == len(GPU_FIELDS)]


def gpus(log):
    """Those that the driver tells of, and why there is none."""
    if shutil.which("nvidia-smi") is None:
        return [], "nvidia-smi is not there"
    done = processes.run(["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}",
                          "--format=csv,noheader"], GPUS_SECONDS, log)
    if done.cut_short:
        return [], f"nvidia-smi: {done.complaint()}"
    found = parse_gpus(done.output)
    lines = (done.output + done.errors).strip().splitlines()
    return found, "" if found else f"nvidia-smi: {lines[-1] if lines else 'lists none'}"


def missing_gpu(version):
    """Why `strata --version`, which asks CUDA, names no GPU; empty where it names one."""
    if ", cuda (" not in version:
        return "strata was built without CUDA"
    found = re.search(r", cuda \((no GPU[^)]*)", version)
    return found[1] if found else ""


def wheel_folders(kind):
    """Folders `kind` (lib, include) of NVIDIA's wheels that this Python finds."""
    found = {folder for path in sys.path for folder in glob.glob(f"{path}/nvidia/*/{kind}")}
    return sorted(folder for folder in found if os.path.isdir(folder))


def header_folder(header):
    for folder in [*wheel_folders("include"), "/usr/local/cuda/include", "/usr/include"]:
        if os.path.exists(f"{folder}/{header}"):
            return folder
    return None


def environment(work, cache, base=None):
    """For programs of ours: where the libraries are, and a cache of their own under `work`. They tell
    of each product that they look for an engine for, which may take a while."""
    variables = dict(os.environ if base is None else base)
    libraries = wheel_folders("lib")
    if libraries:
        known = [variables[name] for name in ("LD_LIBRARY_PATH",) if variables.get(name)]
        variables["STRATA_CUDA_LIBRARIES"] = ":".join(libraries)
        variables["LD_LIBRARY_PATH"] = ":".join([*libraries, *known])
    variables["STRATA_CUDA_PROGRESS"] = "1"
    variables["XDG_CACHE_HOME"] = str(pathlib.Path(work) / cache)
    return variables


def choices_file(environment):
    """Where programs of ours keep which engines of cuDNN are the fastest."""
    return pathlib.Path(environment["XDG_CACHE_HOME"]) / "strata" / "cudnn-plans.tsv"


def find_tool(name):
    """On the path, or where NVIDIA's packages put it."""
    places = [f"/usr/local/cuda*/bin/{name}", f"/usr/local/cuda*/compute-sanitizer/{name}",
              f"/opt/nvidia/*/*/{name}", f"/opt/nvidia/*/{name}"]
    found = [path for place in places for path in sorted(glob.glob(place), reverse=True)]
    return shutil.which(name) or (found[0] if found else None)


def cores():
    return len(os.sched_getaffinity(0))
