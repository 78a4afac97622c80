"""Numerics on the GPU: the test programs, cut in shards that run at once, and what they say of how
far off each case was."""

import collections
import json
import re

from gpu_check import machine, processes
from gpu_check.stages import Result, Skip, verdict

ENDED = re.compile(r"^\[ +(OK|FAILED) +\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
BEGUN = re.compile(r"^\[ RUN +\] (\S+)$")
AGREEMENT = "agreement "
TEST_SECONDS = 60  # a test that had them, and did not end, hangs


def parse_shard(text):
    """({test: how it ended}, [agreement]) of one program's output; what began and did not end is
    "cut short"."""
    ended, agreements = {}, []
    for line in text.splitlines():
        if begun := BEGUN.match(line):
            ended[begun[1]] = "cut short"
        elif end := ENDED.match(line):
            ended[end[2]] = end[1]
        elif line.startswith(AGREEMENT):
            agreements.append(parse_agreement(line[len(AGREEMENT):]))
    return ended, agreements


def parse_agreement(text):
    """Infinite where a value was no number."""
    return json.loads(re.sub(r"\b(inf|nan)\b", "Infinity", text))


def summarise(texts, listed):
    ended, agreements = {}, []
    for text in texts:
        of_shard, said = parse_shard(text)
        ended.update(of_shard)
        agreements += said
    counts = collections.Counter(ended.values())
    return {"tests": listed, "passed": counts["OK"],
            "failed": sorted(name for name, how in ended.items() if how == "FAILED"),
            "cut_short": sorted(name for name, how in ended.items() if how == "cut short"),
            "not_begun": listed - len(ended), "agreements": agreements}


def unfinished(text):
    """What a program was at when its output broke off, and the seconds that its ended tests took."""
    at = [name for name, how in parse_shard(text)[0].items() if how == "cut short"]
    spent = sum(int(end[3]) for end in map(ENDED.match, text.splitlines()) if end)
    return (at[-1] if at else "no test"), spent / 1000


def complaints(shards):
    """Of programs that did not end as tests do: those that broke off, and those that hang."""
    found = []
    for done in shards:
        at, spent = unfinished(done.output)
        in_test, failures = at != "no test", "FAILED" in parse_shard(done.output)[0].values()
        if done.cut_short:
            if done.seconds - spent > TEST_SECONDS:
                found.append(f"{at} did not end in {done.seconds - spent:.0f} s")
        elif in_test or done.code not in (0, 1) or (done.code == 1 and not failures):
            found.append(f"{at}: {done.complaint()}" if in_test else done.complaint())
    return found


def count_listed(text):
    """Tests of --gtest_list_tests."""
    return sum(line.startswith("  ") for line in text.splitlines())


def gradient_error(agreement):
    return agreement.get("gradients", agreement.get("error", 0))


def worst(agreements):
    """By precision, the agreement with the largest error."""
    most = {}
    for agreement in agreements:
        precision = agreement["precision"]
        if precision not in most or gradient_error(agreement) > gradient_error(most[precision]):
            most[precision] = agreement
    return most


def figure(data):
    text = f"{data['passed']} of {data['tests']} passed"
    for key, words in (("failed", "failed"), ("cut_short", "cut short")):
        if data[key]:
            text += f", {len(data[key])} {words}"
    if data.get("crashed"):
        text += f", broke off: {data['crashed'][0]}"
    if data["not_begun"]:
        text += f", {data['not_begun']} not begun"
    errors = (f"{precision} {gradient_error(agreement):.1e}"
              for precision, agreement in sorted(worst(data["agreements"]).items()))
    return "; largest errors: ".join(filter(None, [text, ", ".join(errors)]))


def judge(data, cut_short):
    missing = data["tests"] - data["passed"] - len(data["failed"])
    wrong = data["failed"] or data["crashed"] or (missing and not cut_short)
    return verdict(wrong, data["passed"], missing)


def run_tests(program, work, environment, limit, filters=""):
    """All tests of a program, in as many shards as there are cores."""
    log = work / "log" / program.name
    options = [f"--gtest_filter={filters}"] if filters else []
    listing = processes.run([program, "--gtest_list_tests", *options], 60, f"{log}-list", environment)
    if not listing.well:
        raise RuntimeError(listing.complaint())
    shards = min(machine.cores(), 16)
    environments = [dict(environment, GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(i),
                         OMP_NUM_THREADS="1") for i in range(shards)]
    done = processes.run_together([[program, *options]] * shards, limit - listing.seconds, log,
                                  environments, core_each=True)
    data = summarise([each.output for each in done], count_listed(listing.output))
    data["crashed"] = complaints(done)
    reasons = [line for each in done for line in each.output.splitlines() if line.startswith("no GPU")]
    if reasons and data["not_begun"] == data["tests"]:
        raise Skip(reasons[0])
    return Result(judge(data, any(each.cut_short for each in done)), figure(data), data)
