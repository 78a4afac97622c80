"""What the GPU and its libraries take for what no prediction has a row for, measured once."""

from gpu_check.turns import Turns

PROGRAM = "exec_cuda_gpu_overheads"
NAME = "overheads"
SECONDS = 40  # the first to use the libraries reads them from the disk


def command(programs):
    return [programs[PROGRAM]]


def measure(programs, work, environment, limit):
    """The program's JSON, None where it has none, and the turns with what is wrong: parts may be
    missing where it failed."""
    turns, found = Turns(limit, most=SECONDS), None
    with turns.case(NAME):
        done = turns.run(command(programs), work / "log" / NAME, environment)
        found = done.document()
        if not done.well or found is None:
            raise RuntimeError(done.complaint())
    return found, turns


def microseconds(seconds):
    return f"{1e6 * seconds:.2f} us"


def words(found):
    """Those that are looked at first, in a line."""
    chains = [f"a {kind} task {microseconds(found[f'{kind}_chain']['seconds_per_task'])}"
              for kind in ("launched", "recorded")]
    pair = microseconds(found["empty_event_pair"]["median_seconds"])
    return f"an empty pair of events {pair}, " + ", ".join(chains)


def rows(found):
    """Of a table: what, and what it takes. Parts that failed have none."""
    if "copies" in found:
        yield from stream_rows(found)
    for precision in ("fp32", "tf32", "bf16"):
        if precision in found:
            yield from library_rows(found[precision], precision)
    for part, why in found.get("failed", {}).items():
        yield f"{part}: failed", why


def stream_rows(found):
    median, least, most = (microseconds(found["empty_event_pair"][f"{which}_seconds"])
                           for which in ("median", "least", "most"))
    yield "empty pair of events", f"{median} ({least} to {most})"
    for kind in ("launched", "recorded"):
        each, host, begin = (microseconds(found[f"{kind}_chain"][key]) for key in (
            "seconds_per_task", "host_seconds_per_task", "begin_seconds"))
        yield f"empty {kind} task", f"{each}, {host} of the host; a chain begins in {begin}"
    for copy in found["copies"]:
        way = "to the GPU" if copy["to_gpu"] else "to the host"
        yield (f"{copy['bytes'] >> 10} KiB {way}, {copy['host']} memory",
               f"{microseconds(copy['seconds'])}, {copy['bytes'] / copy['seconds'] / 1e9:.2f} GB/s")


def library_rows(found, precision):
    for one in found["cudnn"]["convolutions"]:
        heuristics = f"heuristics {1000 * one['heuristics_seconds']:.1f} ms, "
        yield f"cuDNN: {one['product']}", heuristics + (
            f"a plan {1000 * one['plan_seconds']:.1f} ms, {runs(one)}"
            if "plan_seconds" in one else "no engine takes it")
    yield f"cuBLAS: a product in {precision}", runs(found["cublas"])


def runs(one):
    return (f"first run {1000 * one['first_run_seconds']:.2f} ms, "
            f"second {1000 * one['second_run_seconds']:.2f} ms")
