#!/usr/bin/env python3
"""Plants one fault at a time in what reads a step, and tells whether the metamorphic tests find it.

    python3 tests/metamorphic/plant_faults.py WORKTREE [NUMBER...]

WORKTREE is a git worktree of its own, in which the sources are changed and built (release); the
changes are taken back. A fault that no longer applies, since its text is gone, is an error.
"""
import os
import subprocess
import sys

CASES = "2000"

# What is wrong, where, the text that is right, and the text in its place.
FAULTS = [
    ("a halved transfer, forward and back", "sim/plan/expand_moves.cpp",
     "const std::int64_t elements = volume(b.box);",
     "const std::int64_t elements = volume(b.box) / 2;"),
    ("flows move half of their bytes", "sim/simulate/plan_workload.cpp",
     "return workload.add_flow(flow.demands, flow.bytes, flow.latency);",
     "return workload.add_flow(flow.demands, flow.bytes / 2, flow.latency);"),
    ("routes without latency", "sim/simulate/step_flows.cpp",
     "return {demands(loads.loads), loads.bytes, latency_ticks(loads.latency)};",
     "return {demands(loads.loads), loads.bytes, Tick{0}};"),
    ("half of the gradients go to a server", "sim/plan/expand_groups.cpp",
     "part.shards[k]), {}, bytes, gradients(k), arrived};",
     "part.shards[k]), {}, Bytes{bytes.value / 2}, gradients(k), arrived};"),
    ("each replica's sum is counted, its own too", "sim/plan/plan.cpp",
     "plan.alike(group) * halves * (replicas - 1)",
     "plan.alike(group) * halves * replicas"),
    ("a forgotten gather of updated parameters", "sim/step/sum_pass.cpp",
     "    to_.add(GatherUpdated{b}, round);\n", ""),
    ("classes that do not know how large shards are", "sim/plan/device_behaviour.cpp",
     "if (compute.phase == Phase::forward) observe_sizes(by, compute.layer);",
     "if (compute.phase == Phase::update) observe_sizes(by, compute.layer);"),
    ("classes that do not know partial sums", "sim/plan/device_behaviour.cpp",
     "if (cut.degrees.r == 1) return;", "if (cut.degrees.r >= 1) return;"),
    ("classes that do not know parameter servers", "sim/plan/device_behaviour.cpp",
     "add_bucket(by, sum.bucket);\n  if (!by.of.sync.may_serve()) return;",
     "add_bucket(by, sum.bucket);\n  if (by.of.graph.size() > 0) return;"),
    ("classes that do not know who exchanges with whom", "sim/plan/device_behaviour.cpp",
     "  by.found.reads.push_back({std::move(reads), owners.devices, readers.devices});\n", ""),
    ("rounds that repeat as soon as they can", "sim/simulate/round_period.cpp",
     "      if (!repeats(d, rounds, from, *time)) return std::nullopt;\n", ""),
    ("rounds that are not simulated move nothing", "sim/case/predict.cpp",
     "    add_moved(more.transfer, periods, few.communication.transfer);\n", ""),
    ("buffers that go when their last reader begins", "sim/timeline/memory.cpp",
     "kept.until = std::max(kept.until, timeline.span(step, last).end);",
     "kept.until = timeline.span(step, last).start;"),
    ("a floor of memory that counts shared inputs twice", "sim/search/memory_floor.cpp",
     "values += read / readers_[tensor(layer, input)()];",
     "values += 2 * read;"),
    ("a bound of two forward passes", "sim/search/shard_times.cpp",
     "counts(layer).times(Phase::forward, 1) * times.forward",
     "2 * counts(layer).times(Phase::forward, 1) * times.forward"),
    ("Eq. 1 by tables without partial sums", "sim/cost/layer_table.cpp",
     "rounds_ * partial_sums(layer, cut, known)", "0.0"),
    ("transfers in tables without latency", "sim/cost/transfer_table.cpp",
     "    return latency + slowest;", "    return slowest;"),
    ("updates that count as passes", "sim/timeline/breakdown.cpp",
     "  if (work_kind(task) == WorkKind::update) return parts.optimizer;\n", ""),
    ("half of the costs of updates", "sim/simulate/simulate.cpp",
     "cost.seconds = static_cast<double>(values) / static_cast<double>(sum.values) * cost.seconds;",
     "cost.seconds = 0.5 * static_cast<double>(values) / static_cast<double>(sum.values) * "
     "cost.seconds;"),
    ("printed plans without priorities", "sim/replay/replay_print.cpp",
     "    if (workload_.priority(a) > 0) put(\",\\\"priority\\\":{}\", workload_.priority(a));\n", ""),
]


def run(worktree, *command, **options):
    return subprocess.run(command, cwd=worktree, capture_output=True, text=True, **options)


def found(worktree):
    """The first relation that does not hold, or None."""
    built = run(worktree, "scripts/build", "release", "metamorphic_test")
    if built.returncode != 0:
        sys.exit("the planted fault does not compile:\n" + built.stdout[-2000:])
    environment = dict(os.environ, STRATA_CASES=CASES, STRATA_FIRST="1")
    tried = run(worktree, "build/release/bin/metamorphic_test", env=environment)
    lines = [line for line in tried.stdout.splitlines() if line.startswith("seed ")]
    if tried.returncode != 0 and not lines:
        return "it crashes"
    return lines[0].split(":")[0] if lines else None


def plant(worktree, number):
    what, file, right, wrong = FAULTS[number]
    path = os.path.join(worktree, file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.count(right) != 1:
        sys.exit(f"{file}: the text of fault {number + 1} is there {text.count(right)} times")
    with open(path, "w", encoding="utf-8") as source:
        source.write(text.replace(right, wrong))
    try:
        by = found(worktree)
    finally:
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)
    print(f"{number + 1:2} {'found' if by else 'NOT FOUND':10} {what}: {by or ''}", flush=True)
    return by is not None


def check(worktree):
    """Whether every fault still has the text that it takes the place of."""
    for number, (_, file, right, _) in enumerate(FAULTS, 1):
        with open(os.path.join(worktree, file), encoding="utf-8") as source:
            times = source.read().count(right)
        if times != 1:
            sys.exit(f"{file}: the text of fault {number} is there {times} times")


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    worktree = arguments[0]
    if arguments[1:] == ["--check"]:
        return check(worktree)
    numbers = [int(number) - 1 for number in arguments[1:]] or range(len(FAULTS))
    count = sum(plant(worktree, number) for number in numbers)
    print(f"{count} of {len(numbers)} found")


if __name__ == "__main__":
    main(sys.argv[1:])
