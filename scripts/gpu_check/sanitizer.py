"""compute-sanitizer on a short training run: memory that is not ours, and races."""

import re

from gpu_check import machine, processes
from gpu_check.stages import FAILED, OK, Result, Skip

TOOLS = {"memcheck": ["--leak-check", "no"], "racecheck": ["--racecheck-report", "all"]}
SUMMARY = {"memcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
           "racecheck": re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed")}


def parse_report(tool, text):
    """{"findings": how many, or None where the tool did not come to its end; "places": lines}."""
    found = SUMMARY[tool].findall(text)
    if not found:
        return {"findings": None, "places": trouble(text)}
    return {"findings": int(found[-1]), "places": trouble(text)}


def trouble(text):
    """The first lines of what it found, without the marks in front."""
    lines = [re.sub(r"^=+ ?", "", line) for line in text.splitlines() if line.startswith("=====")]
    wanted = [line for line in lines if line.strip() and "SUMMARY" not in line
              and line.strip() != "COMPUTE-SANITIZER"]
    return wanted[:40]


def check(plan, programs, work, environment, limit):
    """Both tools at once, on a run whose choices of kernels were made before."""
    program = machine.find_tool("compute-sanitizer")
    if program is None or plan.stand_in:
        raise Skip("compute-sanitizer is not there" if not plan.stand_in else "no GPU to watch")
    command = [programs["strata"], "run", "lenet5", "--devices", plan.shared, "--strategy", "data",
               "--batch", "8", "--steps", "2", "--json"]
    plain = processes.run(command, limit / 2, work / "log" / "sanitizer-none", environment)
    if not plain.well:
        raise RuntimeError(f"without the sanitizer: {plain.complaint()}")
    commands = [[program, "--tool", tool, *options, *command] for tool, options in TOOLS.items()]
    done = processes.run_together(commands, limit - plain.seconds, work / "log" / "sanitizer",
                                  [environment] * len(commands))
    data = {"command": " ".join(map(str, command[1:])), "tools": {}}
    for tool, each in zip(TOOLS, done):
        data["tools"][tool] = {**parse_report(tool, each.output + each.errors),
                               "seconds": each.seconds, "cut_short": each.cut_short,
                               "code": each.code}
    clean = all(t["findings"] == 0 and t["code"] == 0 for t in data["tools"].values())
    return Result(OK if clean else FAILED, figure(data), data)


def figure(data):
    def words(tool):
        if tool["findings"] is not None:
            ended = "" if tool["code"] == 0 else f", exit code {tool['code']}"
            return f"{tool['findings']} found{ended}"
        return "ran past its time" if tool["cut_short"] else "did not come to its end"

    return ", ".join(f"{name}: {words(tool)}" for name, tool in data["tools"].items())
