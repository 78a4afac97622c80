"""The programs under test: carried in a bundle of scripts/portable, built before, or built now."""

import os
import pathlib
import shutil
import tarfile

from gpu_check import machine, overheads, processes

NAMES = ["strata", "exec_cuda_gpu_test", "exec_cuda_gpu_networks_test", overheads.PROGRAM]
BUNDLE = "build/portable/strata-portable.tar.xz"


class Programs:
    def __init__(self, folder, origin):
        self.folder = pathlib.Path(folder)
        self.origin = origin  # for the report

    def __getitem__(self, name):
        return self.folder / name

    def missing(self):
        return [name for name in NAMES if not os.access(self[name], os.X_OK)]


def unpack(bundle, work):
    """The folder of a bundle, which may be one already."""
    if bundle.is_dir():
        return bundle
    folder = work / "bundle"
    with tarfile.open(bundle) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safely)
    return folder


def complaint(programs, work, environment):
    """Why these can't be used; empty where they can."""
    if programs.missing():
        return f"{programs.folder}: no {', '.join(programs.missing())}"
    done = processes.run([programs["strata"], "--version"], 60, work / "log" / "starts", environment)
    return "" if done.well else f"{programs['strata']}: {done.complaint()}"


def configure_options(bundle):
    """What CMake has to be told on a machine that has none of our packages."""
    options = ["-DSTRATA_WERROR=OFF"]  # its compiler may warn of what ours does not
    if bundle is not None:
        options.append(f"-DCMAKE_PREFIX_PATH={bundle / 'prefix' / 'usr'}")
    for variable, header in (("CUDNN_INCLUDE_DIR", "cudnn_backend.h"), ("NCCL_INCLUDE_DIR", "nccl.h")):
        if folder := machine.header_folder(header):
            options.append(f"-D{variable}={folder}")
    return options


def build(root, bundle, work, limit, environment):
    """Programs of the sources at `root`. Throws RuntimeError."""
    folder = work / "build"
    if shutil.which("cmake") is None:
        raise RuntimeError("no cmake to build with")
    commands = [
        ["cmake", "-S", root, "--preset", "portable", "-B", folder, *configure_options(bundle)],
        ["cmake", "--build", folder, "--parallel", str(machine.cores()), "--target", "strata",
         "gpu_tests"]]
    for number, command in enumerate(commands):
        done = processes.run(command, limit, work / "log" / f"build-{number}", environment)
        limit -= done.seconds
        if not done.well:
            raise RuntimeError(f"building: {done.complaint()}")
    return Programs(folder / "bin", "built on this machine")


def built(root):
    """Those of this checkout; None where there are none."""
    for preset in ("portable", "release"):
        found = Programs(root / "build" / preset / "bin", f"build/{preset}")
        if not found.missing():
            return found
    return None


def find(root, bundle, work, limit, environment):
    """The first that start: the bundle's, those built in this checkout, those built now. Throws
    RuntimeError with what is wrong with each."""
    complaints, folder = [], None
    if bundle is not None and bundle.exists():
        folder = unpack(bundle, work)
        carried = Programs(folder / "bin", f"carried ({bundle.name})")
        complaints.append(complaint(carried, work, environment))
        if not complaints[-1]:
            return carried
    found = built(root)
    if found is not None and not complaint(found, work, environment):
        return found
    try:
        return build(root, folder, work, limit, environment)
    except RuntimeError as error:
        raise RuntimeError("; ".join([*complaints, str(error)])) from error
