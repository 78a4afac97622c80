"""Tests that failed, again: alone on the GPU, which says whether they fail by themselves; then, for what
they say, with each launch waited for, and under memcheck."""

import dataclasses
import pathlib

from gpu_check import machine, processes, shares
from gpu_check.stages import FAILED, OK, PARTIAL, Result, Skip

MOST = 5  # tests
ALONE_SECONDS, WATCHED_SECONDS = 20, 30


@dataclasses.dataclass(frozen=True)
class Broken:
    program: pathlib.Path
    test: str
    environment: dict


def ways(environment):
    """How each is run: a title, what stands before the program, the environment, seconds. The first is
    plain: blocking launches hide races."""
    blocking = {**environment, "CUDA_LAUNCH_BLOCKING": "1"}
    tool = machine.find_tool("compute-sanitizer")
    watched = [("memcheck", [tool, "--tool", "memcheck", "--report-api-errors", "no"], environment,
                WATCHED_SECONDS)] if tool else []
    return [("alone", [], environment, ALONE_SECONDS),
            ("alone, launches blocking", [], blocking, ALONE_SECONDS), *watched]


def commands(programs):
    """For each test, where one failed."""
    return [f"{programs['TEST_PROGRAM']} --gtest_filter=TEST",
            f"CUDA_LAUNCH_BLOCKING=1 {programs['TEST_PROGRAM']} --gtest_filter=TEST",
            f"compute-sanitizer --tool memcheck {programs['TEST_PROGRAM']} --gtest_filter=TEST"]


def run_again(broken, work, left):
    """For each way, how it ended: in a line, and the first lines of what was said."""
    seen = []
    for number, (title, before, variables, most) in enumerate(ways(broken.environment)):
        log = work / "log" / f"again-{number}-{broken.test.replace('/', '-')}"
        done = processes.run([*before, broken.program, f"--gtest_filter={broken.test}"],
                             min(most, max(left(), 0)), log, variables)
        outcome = shares.outcomes(done.output).get(broken.test, "not begun")
        words = outcome if done.well or outcome == "FAILED" else done.complaint()
        lines = [line for line in (done.output + done.errors).splitlines()
                 if line.strip() and not line.startswith(("[", "Note:", "Running"))]
        seen.append({"way": title, "ended": words, "passed": done.well and outcome == "OK",
                     "lines": lines[:12]})
    return {"test": broken.test, "ways": seen}


def check(broken, work, left):
    """`left` says the seconds that are left."""
    if not broken:
        raise Skip("no test failed")
    found, missed = [], 0
    for one in broken[:MOST]:
        if left() < 3:
            missed += 1
            continue
        found.append(run_again(one, work, left))
    passed = [one["test"] for one in found if one["ways"][0]["passed"]]
    words = [f"{len(found)} of {len(broken)} failed tests again: {len(passed)} pass alone"]
    words += [f"{one['test']}: {one['ways'][0]['ended']}" for one in found if one["test"] not in passed]
    status = FAILED if len(passed) < len(found) else PARTIAL if missed else OK
    return Result(status, "; ".join(words), {"tests": found})
