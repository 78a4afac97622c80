"""Numerics on the GPU: what the test programs say of how far off each case was."""

import collections
import json
import re

from gpu_check import machine, processes, shares
from gpu_check.stages import Result, Skip, verdict

AGREEMENT = "agreement "
MOST_SHARES = 8  # of 16 that begin to use a GPU at once, some are told that it has no memory


def agreements_of(text):
    """One for each line of them: None where it breaks off, as the last line of a killed process may."""
    return [parse_agreement(line[len(AGREEMENT):]) for line in text.splitlines()
            if line.startswith(AGREEMENT)]


def parse_agreement(text):
    """Infinite where a value was no number."""
    try:
        return json.loads(re.sub(r"\b(inf|nan)\b", "Infinity", text))
    except ValueError:
        return None


def summarise(texts, listed):
    ended, lines = {}, []
    for text in texts:
        ended.update(shares.outcomes(text))
        lines += agreements_of(text)
    agreements = [line for line in lines if line is not None]

    def named(how):
        return sorted(name for name, was in ended.items() if was == how)

    counts = collections.Counter(ended.values())
    return {"tests": listed, "passed": counts["OK"], "skipped": counts["SKIPPED"],
            "failed": named("FAILED"), "cut_short": named(shares.CUT_SHORT),
            "not_begun": listed - len(ended), "agreements": agreements,
            "broken_lines": len(lines) - len(agreements),
            "partitions": sorted({a["partitions"] for a in agreements if "partitions" in a})}


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
    if data["skipped"]:
        text += f", {data['skipped']} skipped"
    for key, words in (("failed", "failed"), ("cut_short", "cut short")):
        if data[key]:
            text += f", {len(data[key])} {words}"
    if data.get("crashed"):
        text += f", broke off: {data['crashed'][0]}"
    if data["not_begun"]:
        text += f", {data['not_begun']} not begun"
    if data["broken_lines"]:
        text += f", {data['broken_lines']} agreement lines break off"
    errors = (f"{precision} {gradient_error(agreement):.1e}"
              for precision, agreement in sorted(worst(data["agreements"]).items()))
    return "; largest errors: ".join(filter(None, [text, ", ".join(errors)]))


def judge(data, cut_short):
    missing = data["tests"] - data["passed"] - data["skipped"] - len(data["failed"])
    wrong = data["failed"] or data["crashed"] or (missing and not cut_short)
    return verdict(wrong, data["passed"], missing)


def reason_to_skip(texts, data):
    """Why no test ran; empty where one did, or should have."""
    if data["tests"] and data["skipped"] == data["tests"]:
        return "every test says that it cannot run here"
    if data["not_begun"] < data["tests"]:
        return ""
    return next((line for text in texts for line in text.splitlines() if line.startswith("no GPU")), "")


def run_tests(program, work, environment, limit, silence, title):
    """All tests of a program, in as many shares as there are cores. A test that says nothing for
    `silence` seconds hangs. `title`: of its logs."""
    log = work / "log" / title
    listing = processes.run([program, "--gtest_list_tests"], 60, f"{log}-list", environment)
    if not listing.well:
        raise RuntimeError(listing.complaint())
    tests = shares.listed(listing.output)
    done = shares.run([program], tests, limit - listing.seconds, log,
                      {**environment, "OMP_NUM_THREADS": "1"}, silence, min(machine.cores(), MOST_SHARES))
    texts = [text for share in done for text in share.texts]
    data = summarise(texts, len(tests))
    data["crashed"] = [wrong for share in done for wrong in share.complaints]
    data["broken"] = [test for share in done for test in share.broken]
    if reason := reason_to_skip(texts, data):
        raise Skip(reason)
    return Result(judge(data, any(share.cut_short for share in done)), figure(data), data)
