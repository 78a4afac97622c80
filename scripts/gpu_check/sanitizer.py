"""compute-sanitizer on a short training run: memory that is not ours, and races."""

import concurrent.futures
import itertools
import re

from gpu_check import machine, processes
from gpu_check.stages import Result, Skip, verdict
from gpu_check.turns import Turns

# Sound libraries ask the driver for what it may refuse: refusals are no findings.
MOST_PRINTED = 2000
TOOLS = {"memcheck": ["--leak-check", "no", "--report-api-errors", "no"],
         "racecheck": ["--racecheck-report", "all", "--print-limit", str(MOST_PRINTED)]}
# Kernels of cuBLAS and cuDNN hand shared memory over by barriers that racecheck does not know.
OF_LIBRARIES = re.compile(r"^\s*(Read|Write) Thread .* at (nvjet|cutlass|cudnn|cublas|sm\d+_)")
REMARKS = ("Target application", "Error: process didn't", "Error: Target application", "Internal")
SUMMARY = {"memcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
           "racecheck": re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed")}


def parse_report(tool, text):
    """{"findings": how many that are not within libraries, or None where the tool did not come to its
    end; "places": lines}."""
    found, (places, theirs) = SUMMARY[tool].findall(text), trouble(text)
    if not found:
        return {"findings": None, "places": places}
    count = int(found[-1])
    if theirs and count >= MOST_PRINTED:
        places.append(f"{count} were printed, the most that are, {theirs} of them within libraries: "
                      "others were not seen")
        return {"findings": count - theirs + 1, "places": places}
    return {"findings": max(count - theirs, 0), "places": places}


def trouble(text):
    """The first lines of what it found, without the marks in front, and how many more it found within
    libraries. Empty lines lie between what it found."""
    lines = [re.sub(r"^=+ ?", "", line) for line in text.splitlines() if line.startswith("=====")]
    wanted = [line for line in lines if "SUMMARY" not in line and line.strip() != "COMPUTE-SANITIZER"]
    groups = [list(group) for full, group in itertools.groupby(wanted, lambda line: bool(line.strip()))
              if full]
    ours = [group for group in groups if not any(map(OF_LIBRARIES.match, group))]
    return [line for group in ours for line in group][:40], len(groups) - len(ours)


def findings(seen):
    """Places that speak of the program, not of how it ended."""
    return [line for line in seen["places"] if not line.strip().startswith(REMARKS)]


def could_not_run(seen):
    """It ended badly, or the tool did, with nothing found in it."""
    ended = seen["code"] == 0 and seen["findings"] is not None
    return not ended and not seen["cut_short"] and not findings(seen)


def complaint(seen):
    """What is wrong with a run under a tool; None where nothing is."""
    if seen["findings"] == 0 and seen["code"] == 0:
        return None
    places = findings(seen) or (seen["places"] if seen["code"] == 0 else [])
    if places:
        return f"{seen['findings'] or 'some'} found: {places[0].strip()}"
    return seen["ended"]


def refusal(program, tool, programs, work, environment, limit):
    """Why this machine does not let the tool watch a program, which runs without it; empty where it
    does."""
    done = processes.run([program, "--tool", tool, programs["strata"], "--version"], limit,
                         work / "log" / f"sanitizer-{tool}-starts", environment)
    seen = parse_report(tool, done.output + done.errors)
    if done.cut_short or (done.code != 0 and seen["findings"] is None):
        return (findings(seen) or [done.complaint()])[0].strip()
    return ""


def run_command(programs, devices):
    return [programs["strata"], "run", "lenet5", "--devices", devices, "--strategy", "data", "--batch",
            "8", "--steps", "2", "--json"]


def tool_command(program, tool, command):
    return [program, "--tool", tool, *TOOLS[tool], *command]


def commands(plan, programs):
    places = (plan.one, plan.shared)
    return [["compute-sanitizer", "--tool", tool, programs["strata"], "--version"] for tool in TOOLS] + [
        run_command(programs, devices) for devices in places] + [
        tool_command("compute-sanitizer", tool, run_command(programs, devices))
        for devices in places for tool in TOOLS]


class Watch:
    """Runs under the tools."""

    def __init__(self, program, plan, programs, work, environment, turns):
        self.program, self.plan, self.programs = program, plan, programs
        self.work, self.environment, self.turns = work, environment, turns

    def command(self, devices):
        return run_command(self.programs, devices)

    def without(self, devices, shared=False):
        """Kernels are chosen here, so that the tools need not watch the choosing."""
        done = self.turns.run(self.command(devices), self.log("none", devices, shared),
                              self.variables(shared), share=self.turns.left() / 3)
        if not done.well:
            shared_words = "all multiprocessors shared, without the sanitizer: " if shared else ""
            raise RuntimeError(shared_words + done.complaint())

    def look(self, tool, devices, shared=False):
        done = processes.run(tool_command(self.program, tool, self.command(devices)),
                             max(self.turns.left(), 0), self.log(tool, devices, shared),
                             self.variables(shared))
        return {"devices": devices, "tool": tool, "shared": shared,
                **parse_report(tool, done.output + done.errors), "seconds": done.seconds,
                "cut_short": done.cut_short, "code": done.code, "ended": done.complaint()}

    def watch(self, tool, devices):
        """Where it could not run with multiprocessors of each device's own, once more without."""
        seen = self.look(tool, devices)
        if devices != self.plan.one and could_not_run(seen) and self.turns.left() > 5:
            self.without(devices, shared=True)
            seen = {**self.look(tool, devices, shared=True), "instead_of": seen["ended"]}
        return seen

    def judged(self, job):
        """What was seen, if anything; what is wrong with it goes to the stage's losses."""
        seen = None
        with self.turns.case(job[1], job[0]):
            seen = self.watch(*job)
            wrong = complaint(seen)
            if wrong and seen["cut_short"] and not findings(seen):
                raise TimeoutError(wrong)
            if wrong:
                raise RuntimeError(wrong)
        return seen

    def log(self, tool, devices, shared):
        name = f"sanitizer-{tool}-{devices}{'-shared' if shared else ''}"
        return self.work / "log" / name.replace(":", "").replace("/", "x")

    def variables(self, shared):
        return {**self.environment, "STRATA_CUDA_PARTITIONS": "shared"} if shared else self.environment


def check(plan, programs, work, environment, limit):
    """On a whole GPU and on a split one, with both tools, all at once."""
    program = machine.find_tool("compute-sanitizer")
    if program is None or plan.stand_in:
        raise Skip("compute-sanitizer is not there" if not plan.stand_in else "no GPU to watch")
    turns, ready = Turns(limit, most=limit), []
    refused = {tool: why for tool in TOOLS
               if (why := refusal(program, tool, programs, work, environment, turns.left() / 4))}
    if len(refused) == len(TOOLS):
        raise Skip(refused_words(refused))
    watch = Watch(program, plan, programs, work, environment, turns)
    for devices in (plan.one, plan.shared):
        with turns.case(devices, "without the sanitizer"):
            watch.without(devices)
            ready.append(devices)
    jobs = [(tool, devices) for devices in ready for tool in TOOLS if tool not in refused]
    with concurrent.futures.ThreadPoolExecutor(len(jobs) or 1) as pool:
        runs = [seen for seen in pool.map(watch.judged, jobs) if seen]
    data = {"command": " ".join(map(str, watch.command(plan.shared)[1:])), "runs": runs,
            "refused": refused, **turns.losses()}
    whole = [seen for seen in runs if complaint(seen) is None]
    return Result(verdict(turns.failed, whole, turns.left_out), figure(data, turns.words()), data)


def place(seen):
    """On which devices, and whether they had multiprocessors of their own."""
    return seen["devices"] + (", all multiprocessors shared" if seen["shared"] else "")


def figure(data, losses):
    clean = [f"{seen['tool']} on {place(seen)}" for seen in data["runs"] if complaint(seen) is None]
    words = [f"nothing found by {', '.join(clean)}" if clean else "no clean run"]
    return "; ".join([*words, *filter(None, [refused_words(data["refused"])]), *losses])


def refused_words(refused):
    return "; ".join(f"this machine refuses {tool}: {why}" for tool, why in refused.items())
