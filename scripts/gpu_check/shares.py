"""The tests of a GoogleTest program in shares that run at once, a process each. A process that crashes,
or hangs in a test, costs that test alone: another one goes on behind it."""

import concurrent.futures
import dataclasses
import re
import time

from gpu_check import processes

ENDED = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
BEGUN = re.compile(r"^\[ RUN +\] (\S+)$")
CUT_SHORT = "cut short"


def outcomes(text):
    """{test: OK, FAILED, SKIPPED, or cut short where it began and did not end}."""
    found = {}
    for line in text.splitlines():
        if begun := BEGUN.match(line):
            found[begun[1]] = CUT_SHORT
        elif end := ENDED.match(line):
            found[end[2]] = end[1]
    return found


def listed(text):
    """Names of --gtest_list_tests: a suite's line, then its tests' lines, indented."""
    names, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def complaint(done, found):
    """What is wrong with how a process of tests ended; None where nothing is."""
    at = next((test for test, how in found.items() if how == CUT_SHORT), None)
    if at is not None:
        return f"{at}: {done.complaint()}"
    if done.hung or done.code not in (0, 1) or (done.code == 1 and "FAILED" not in found.values()):
        return done.complaint()
    return None


@dataclasses.dataclass
class Share:
    """What came of some of the tests."""

    texts: list = dataclasses.field(default_factory=list)  # what each process said
    complaints: list = dataclasses.field(default_factory=list)  # of those that broke off
    broken: list = dataclasses.field(default_factory=list)  # the tests that they were at
    cut_short: bool = False  # by the time


def run_share(command, tests, until, log, environment, silence, core):
    """Process after process, until each test was begun or the time is over. A process that breaks off
    before it begins a test is the last."""
    share = Share()
    while tests:
        if time.monotonic() >= until:
            share.cut_short = True
            break
        try:
            done = processes.run([*command, f"--gtest_filter={':'.join(tests)}"],
                                 until - time.monotonic(), f"{log}-{len(share.texts)}", environment,
                                 silence, core)
        except processes.Interrupted:
            share.cut_short = True
            break
        share.texts.append(done.output)
        found = outcomes(done.output)
        if done.cut_short:
            share.cut_short = True
            break
        wrong = complaint(done, found)
        if wrong is None:
            break
        share.complaints.append(wrong)
        share.broken += [test for test, how in found.items() if how == CUT_SHORT]
        rest = [test for test in tests if test not in found]
        tests = rest if len(rest) < len(tests) else []
    return share


def run(command, tests, limit, log, environment, silence, cores):
    """A Share of the tests for each core."""
    until = time.monotonic() + limit
    dealt = [part for part in (tests[core::cores] for core in range(cores)) if part]
    with concurrent.futures.ThreadPoolExecutor(max(1, len(dealt))) as pool:
        runs = [pool.submit(run_share, command, part, until, f"{log}-{core}", environment, silence,
                            core) for core, part in enumerate(dealt)]
        return [each.result() for each in runs]
