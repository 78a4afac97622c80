"""Shards measured, steps predicted from them, and held against measured steps."""

import itertools
import pathlib
import statistics

from gpu_check.plan import PAPER, PAPER_BATCH, STRATEGIES
from gpu_check.stages import Result, verdict
from gpu_check.turns import Turns, cut, plain_loops_complaint

EACH, MEAN = 0.10, 0.05  # the errors that are allowed
TASKS = 5  # that explain an error
APART = 0.05  # two strategies whose measured times are nearer are not ranked


def explanation(report):
    """Of the case with the largest error: its strategy, and the tasks that have most of it."""
    largest = report.get("largest_error", {})
    return {"strategy": largest.get("strategy", ""), "tasks": [
        {key: row[key] for key in ("layer", "task", "predicted_seconds", "measured_seconds", "share")}
        for row in largest.get("rows", [])[:TASKS]]}


def rank_pairs(cases):
    """(pairs in the order predicted, pairs whose order was measured), among the strategies of each
    network, batch, type, devices and way of launching."""
    def key(case):
        return (case["model"], case["batch"], case["dtype"], case["device_list"], case["way"])

    right = ranked = 0
    for _, group in itertools.groupby(sorted(cases, key=key), key):
        for a, b in itertools.combinations(group, 2):
            low, high = sorted((a["measured_seconds"], b["measured_seconds"]))
            if high <= low * (1 + APART):
                continue
            ranked += 1
            faster = a["measured_seconds"] < b["measured_seconds"]
            right += faster == (a["predicted_seconds"] < b["predicted_seconds"])
    return right, ranked


def once_on_one_device(cases, one):
    """On one device all strategies are one run: the first stands for all."""
    kept, seen = [], set()
    for case in cases:
        key = (case["model"], case["batch"], case["dtype"], case["way"])
        if case["device_list"] == one:
            if key in seen:
                continue
            seen.add(key)
        kept.append(case)
    return kept


def summarise(cases, one):
    cases = once_on_one_device(cases, one)
    errors = [abs(case["relative_error"]) for case in cases]
    right, ranked = rank_pairs(cases)
    return {"cases": cases, "mean_absolute_error": statistics.mean(errors) if errors else None,
            "max_absolute_error": max(errors, default=None), "ranked_pairs": ranked,
            "rightly_ranked_pairs": right, "paper": paper_column(cases, one)}


def paper_column(cases, one):
    """The paper's networks on one device at its batch, in the first type measured: by Eq. 1, as the
    paper predicts, and simulated."""
    column = {}
    for case in cases:
        if case["device_list"] == one and case["batch"] == PAPER_BATCH and case["model"] in PAPER:
            column.setdefault(case["model"], {
                "dtype": case["dtype"], "paper_per_cent": PAPER[case["model"]],
                "eq1_error": case["eq1_seconds"] / case["measured_seconds"] - 1,
                "simulated_error": case["relative_error"]})
    return column


def is_within(data):
    """The limits, of what was measured."""
    return not data["cases"] or (data["max_absolute_error"] <= EACH
                                 and data["mean_absolute_error"] <= MEAN
                                 and data["rightly_ranked_pairs"] == data["ranked_pairs"])


def figure(data, losses):
    parts = [f"{len(data['cases'])} cases"]
    if data["cases"]:
        parts += [f"mean error {100 * data['mean_absolute_error']:.1f} %",
                  f"largest {100 * data['max_absolute_error']:.1f} %",
                  f"{data['rightly_ranked_pairs']} of {data['ranked_pairs']} pairs in order"]
    if not is_within(data):
        parts.append(f"allowed: mean {100 * MEAN:.0f} %, largest {100 * EACH:.0f} %, all in order")
    return ", ".join(parts + losses)


def case_name(network, batch, dtype, devices):
    return f"{network}-{batch}-{dtype}-{devices}".replace(":", "").replace("/", "x")


def dtype_options(dtype):
    return [] if dtype == "fp32" else ["--dtype", dtype]


def validate_runs(plan):
    """Of GPUs all networks launched task by task, and then with steps that are played, before any on
    other devices."""
    ways = ["plain"] if plan.stand_in else ["plain", "graph"]
    alike = [list(runs) for _, runs in itertools.groupby(plan.runs(), lambda run: run[1:])]
    return [(run, way) for runs in alike for way in ways for run in runs]


def validate_name(run, way):
    return case_name(*run) + ("" if way == "plain" else f"-{way}")


def validate_command(programs, work, run, way):
    network, batch, dtype, devices = run
    name = validate_name(run, way)
    return [programs["strata"], "validate", network, "--devices", devices, "--batch", str(batch),
            "--strategies", STRATEGIES, "--only", "--rounds", "5", "--json", *dtype_options(dtype),
            *(["--graph"] if way == "graph" else []),
            "-o", work / "profiles" / f"{name}.toml",
            "--trace", work / "traces" / f"{name}.trace.json"]


def validate_commands(plan, programs, work):
    return [validate_command(programs, work, *each) for each in validate_runs(plan)]


def validate(plan, programs, work, environment, limit):
    """Networks in turn. A run that ends badly fails the stage even where it measured something: what
    it moved was not what its plan says. One that time ends says what it has measured until then."""
    turns, cases, runs = Turns(limit), [], []
    for run, way in validate_runs(plan):
        name = validate_name(run, way)
        with turns.case(name):
            turns.need(3)
            done, cut_off = turns.attempt(validate_command(programs, work, run, way),
                                          work / "log" / f"validate-{name}", environment)
            found = done.document() or {"cases": []}
            if found["cases"]:
                runs.append({"case": name, "seconds": done.seconds, **explanation(found)})
                cases += [{**case, "dtype": run[2], "device_list": run[3], "way": way}
                          for case in found["cases"]]
            if cut_off or (done.cut_short and found["cases"]):
                raise cut(done)
            if not (done.well and found["cases"]):
                raise RuntimeError(done.complaint())
            for case in found["cases"]:  # its figures are kept, as those of any other failure
                if loops := plain_loops_complaint(case):
                    raise RuntimeError(f"{case['strategy']}: {loops}")
    data = {**summarise(cases, plan.one), "runs": runs, **turns.losses()}
    status = verdict(turns.failed or not is_within(data), cases, turns.left_out)
    return Result(status, figure(data, turns.words()), data)


def profile_command(plan, programs, work, run, merge):
    """`merge`: into what was measured of other networks."""
    dtype, network = run
    return [programs["strata"], "profile", network, "--devices", plan.one, "--batch",
            str(plan.batches[0]), "--rounds", "7", *dtype_options(dtype), "-o",
            work / "profiles" / f"{plan.one.partition(':')[0]}-{dtype}.toml",
            *(["--merge"] if merge else []), "--json"]


def profile_runs(plan):
    return [(dtype, network) for dtype in plan.dtypes for network in plan.networks]


def profile_commands(plan, programs, work):
    return [profile_command(plan, programs, work, run, run[1] != plan.networks[0])
            for run in profile_runs(plan)]


def profile(plan, programs, work, environment, limit):
    """A profile of this kind of device for each type: the shards of all networks, one a process, so
    that each keeps what those before it measured. One that time ends keeps what it has."""
    turns, made = Turns(limit), {}
    runs = profile_runs(plan)
    for number, run in enumerate(runs):
        dtype, network = run
        with turns.case(dtype, network):
            turns.need(3)
            done, cut_off = turns.attempt(profile_command(plan, programs, work, run, dtype in made),
                                          work / "log" / f"profile-{dtype}-{network}", environment,
                                          share=2 * turns.left() / (len(runs) - number))
            found = done.document()
            if found is not None:
                made[dtype] = add_network(made.get(dtype), network, found)
            if cut_off or (done.cut_short and found is not None):
                raise cut(done)
            if not done.well or found is None:
                raise RuntimeError(done.complaint())
    profiles = [{"dtype": dtype, **one} for dtype, one in made.items()]
    words = [f"{each['dtype']}: {each['measured_costs']} costs of {len(each['networks'])} networks in "
             f"{each['measure_seconds']:.0f} s" for each in profiles] + turns.words()
    return Result(verdict(turns.failed, made, turns.left_out), "; ".join(words),
                  {"profiles": profiles, **turns.losses()})


def add_network(before, network, found):
    """What a profile has, of the JSON of `strata profile`, whose counts are of all that was merged."""
    before = before or {"networks": [], "measure_seconds": 0}
    return {"file": pathlib.Path(found["profile"]).name, "networks": [*before["networks"], network],
            "measured_costs": found["measured_costs"], "measured_moves": found["measured_moves"],
            "measure_seconds": before["measure_seconds"] + found["measure_seconds"]}
