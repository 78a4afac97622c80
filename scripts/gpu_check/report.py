"""The report: all as JSON, what a person wants to know as Markdown."""

import dataclasses
import json

from gpu_check import numerics, overheads, sanitizer, stages, turns


def write_whole(path, text):
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def percent(share):
    return f"{100 * share:+.1f} %".replace("-", "\N{MINUS SIGN}")


def milliseconds(seconds):
    return f"{1000 * seconds:.3f} ms"


def environment_section(data):
    rows = [(key, value) for key, value in data.items() if not isinstance(value, (list, dict))]
    return table(["", ""], rows + [(f"GPU {i}", ", ".join(f"{k} {v}" for k, v in gpu.items()))
                                   for i, gpu in enumerate(data["gpus"])])


def tests_section(data):
    parts = [f"Devices that shared the GPU: {', '.join(data['partitions'])}\n"] if data["partitions"] else []
    for key, title in (("failed", "Failed"), ("cut_short", "Cut short"), ("crashed", "Broke off")):
        if data[key]:
            parts.append(f"{title}: {', '.join(data[key])}\n")
    if "network" in (data["agreements"] or [{}])[0]:
        parts.append(networks_table(data["agreements"]))
    else:
        worst = numerics.worst(data["agreements"])
        parts.append(table(["precision", "largest error", "allowed", "in"], [
            (p, f"{a['error']:.1e}", a["tolerance"], f"{a['suite']} {a['case']}")
            for p, a in sorted(worst.items())]))
    return "\n".join(parts)


def networks_table(agreements):
    rows = [(a["network"], a["strategy"], a["devices"], a["precision"], a["launch"],
             f"{a['loss']:.1e}", f"{a['weights']:.1e}", a["tolerance"], f"{a['gradients']:.1e}",
             a["gradient_tolerance"], a["worst_gradients"]) for a in agreements]
    return table(["network", "strategy", "devices", "precision", "launch", "loss", "weights",
                  "allowed", "gradients", "allowed", "largest in"], sorted(rows))


def smoke_section(data):
    return table(["network", "type", "devices", "way", "machine", "engines chosen",
                  "products on plain loops", "step"], [
        (run["network"], run["dtype"], f"{run['devices']} {run['partitions']}", run["way"],
         run["machine"], run["engines"], (run["plain_loops"] or {}).get("products", ""),
         milliseconds(run["step_seconds"])) for run in data["runs"]]) + losses(data) + (
        "\n" + table(["measured once", "takes"], overheads.rows(data["overheads"]))
        if data["overheads"] else "")


def again_section(data):
    parts = []
    for one in data["tests"]:
        parts.append(f"{one['test']}:\n")
        parts += [f"* {way['way']}: {way['ended']}" for way in one["ways"]]
        lines = [line for way in one["ways"] if not way["passed"] for line in way["lines"]]
        parts.append("\n```\n" + "\n".join(lines) + "\n```\n" if lines else "")
    return "\n".join(parts)


def sanitizer_section(data):
    rows = [(seen["tool"], sanitizer.place(seen),
             "no end" if seen["findings"] is None else seen["findings"], seen["code"],
             f"{seen['seconds']:.0f} s") for seen in data["runs"]]
    instead = [f"\n{seen['tool']} on {seen['devices']}: all multiprocessors shared, since with its own "
               f"{seen['instead_of']}\n" for seen in data["runs"] if "instead_of" in seen]
    places = [line for seen in data["runs"] for line in seen["places"]]
    listing = "\n```\n" + "\n".join(places) + "\n```\n" if places else ""
    return (f"`{data['command']}`\n\n" + table(["tool", "devices", "found", "exit code", "time"], rows)
            + "".join(instead) + losses(data) + listing)


def validation_section(data):
    rows = [(c["model"], c["batch"], c["dtype"], c["device_list"], c["way"], c["strategy"],
             milliseconds(c["predicted_seconds"]), milliseconds(c["measured_seconds"]),
             f"{100 * c['spread_seconds'] / c['measured_seconds']:.1f} %",
             percent(c["relative_error"])) for c in data["cases"]]
    text = table(["network", "batch", "type", "devices", "launched", "strategy", "predicted",
                  "measured", "spread", "error"], rows)
    if data["paper"]:
        text += "\nThe paper's Table 4, one GPU (its own was a P100):\n\n" + table(
            ["network", "type", "the paper's error", "by Eq. 1 here", "simulated here"],
            [(n, p["dtype"], f"{p['paper_per_cent']} %", percent(p["eq1_error"]),
              percent(p["simulated_error"])) for n, p in data["paper"].items()])
    text += "\nOf each run's largest error, the tasks that have most of it:\n\n" + table(
        ["run", "strategy", "layer", "task", "predicted", "measured", "share"],
        [(run["case"], run["strategy"], t["layer"], t["task"], milliseconds(t["predicted_seconds"]),
          milliseconds(t["measured_seconds"]), percent(t["share"]))
         for run in data["runs"] for t in run["tasks"][:2]])
    return text + losses(data)


def pytorch_section(data):
    def cells(row, way):
        if way not in row:
            return ["", "", ""]
        w = row[way]
        return [milliseconds(w["pytorch_seconds"]), milliseconds(w["strata_seconds"]),
                f"{w['ratio']:.3f} ({w['ratio_min']:.3f} to {w['ratio_max']:.3f})"]

    def over(row, key):
        side = row.get("eager") or row.get("compile")
        return f"{side['strata_seconds'] / row[key]:.2f}" if key in row else ""

    def ours(row):
        return ", ".join([row["strata_way"], *(f"{way} failed" for way in row["strata_failed"])])

    rows = [[row["network"], row["batch"], row["dtype"], ours(row), *cells(row, "eager"),
             *cells(row, "compile"), over(row, "product_seconds"), over(row, "roofline_seconds")]
            for row in data["rows"]]
    ceilings = ", ".join(f"{k} {v:.4g}" for k, v in data["ceilings"].items())
    about = ", ".join(f"{k} {v}" for k, v in data["about"].items())
    return (f"{about}. Measured ceilings: {ceilings}. Ratios are strata / PyTorch: below 1, Strata is "
            "faster. PyTorch: channels_last, cudnn.benchmark, fused SGD; bf16 is autocast over fp32 "
            "weights; compiled in the default mode, without CUDA graphs. Strata runs its tasks one by "
            "one (plain), or a recorded step (--graph) where that was faster. The last columns are "
            "Strata's step over the time that its products alone take at the measured rate, and over "
            "the roofline of the shipped H200 profile, whatever GPU this is.\n\n" + table(
                ["network", "batch", "type", "strata's way", "eager", "strata", "ratio", "compiled",
                 "strata", "ratio", "over products", "over roofline"], rows) + losses(data))


def losses(data):
    text = ""
    for key, words in (("failed", "Failed"), ("left_out", "Not in the time")):
        if data[key]:
            text += f"\n{words}:\n\n" + "".join(
                f"* {turns.title(loss)}: {turns.first_line(loss['why'])}\n" for loss in data[key])
    return text


def profile_section(data):
    return table(["type", "file", "networks", "costs", "moves", "time"], [
        (p["dtype"], p["file"], ", ".join(p["networks"]), p["measured_costs"], p["measured_moves"],
         f"{p['measure_seconds']:.0f} s") for p in data["profiles"]]) + losses(data)


SECTIONS = {"environment": environment_section, "smoke": smoke_section, "kernels": tests_section,
            "kernels-shared": tests_section, "networks": tests_section, "again": again_section,
            "sanitizer": sanitizer_section, "profile": profile_section,
            "validate": validation_section, "pytorch": pytorch_section}


def section(outcome):
    """What cannot be shown must not cost the rest."""
    try:
        return SECTIONS[outcome.name](outcome.data) if outcome.data else ""
    except Exception as error:
        return f"(not shown: {type(error).__name__}: {error}; report.json has it)\n"


def markdown(outcomes, stand_in):
    what = ("This was a trial of the script on cores that stand in for a GPU: no figure here is a "
            "GPU's." if stand_in else "Made by `scripts/gpu-check` on the machine below.")
    parts = ["# Strata on a GPU: a check\n", what + "\n", "```\n" + stages.table(outcomes) + "\n```\n"]
    for outcome in outcomes:
        parts += [f"## {outcome.name}: {outcome.status}\n", outcome.figure + "\n", section(outcome)]
    return "\n".join(parts)


def stages_of(folder):
    """Those of an earlier check's report; none where there is none that can be read."""
    try:
        return json.loads((folder / "report.json").read_text())["stages"]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write(folder, outcomes, stand_in):
    document = {"stand_in": stand_in, "stages": [dataclasses.asdict(o) for o in outcomes]}
    write_whole(folder / "report.json", json.dumps(document, indent=1) + "\n")
    write_whole(folder / "report.md", markdown(outcomes, stand_in))
