"""The command line of scripts/gpu-check, and what it does in which order."""

import argparse
import contextlib
import pathlib
import signal
import sys
import tarfile
import tempfile

from gpu_check import check, processes, programs, report, stages
from gpu_check.plan import plan_for
from gpu_check.stages import Budget

SECONDS = 525
DONE, FOUND, BAD_USAGE, NOT_ABLE = 0, 1, 2, 3
FILE_BYTES = 16 << 20  # what a file of the folder may have


@contextlib.contextmanager
def tolerant(what):
    """A file that cannot be written, as on a full disk, is told of and costs nothing else."""
    try:
        yield
    except OSError as error:
        print(f"{what}: {error}", file=sys.stderr)


def pack(work, folder):
    """Profiles, traces and logs, an archive each; one that cannot be written, or is too large, is left
    out, and said to be."""
    for name in check.FOLDERS:
        if any((work / name).iterdir()):
            with tolerant(f"{name}.tar.xz"):
                pack_one(work / name, folder / f"{name}.tar.xz")


def pack_one(source, path):
    """An archive that is there stays until the new one is whole."""
    part = path.with_name(path.name + ".part")
    try:
        with tarfile.open(part, "w:xz", preset=1) as archive:
            archive.add(source, source.name)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    if path.stat().st_size > FILE_BYTES:
        print(f"{path.name}: {path.stat().st_size} bytes are too many", file=sys.stderr)
        path.unlink()


def save(run, folder, outcomes):
    """The report first: it is small, and says most."""
    report.write(folder, outcomes, run.plan.stand_in)
    with tolerant("chosen engines"):
        run.keep(folder)
    pack(run.work, folder)


def parse(arguments, usage):
    names = check.names()
    parser = argparse.ArgumentParser(prog="scripts/gpu-check", description=usage,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER", nargs="?",
                        help="for the report, profiles and traces")
    parser.add_argument("--bundle", type=pathlib.Path, metavar="FILE",
                        help=f"an archive of scripts/portable, or its folder ({programs.BUNDLE})")
    parser.add_argument("--choices", type=pathlib.Path, metavar="FOLDER",
                        help="of an earlier check, whose chosen engines are used (FOLDER)")
    parser.add_argument("--visit", type=int, choices=sorted(check.VISITS), default=1,
                        help="1: does it work, 2: profiles and predictions, 3: beside PyTorch (1)")
    parser.add_argument("--stages", metavar="A,B", help=f"instead of a visit's: of {','.join(names)}")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for all of it ({SECONDS})")
    parser.add_argument("--devices", default="cuda:0", help=argparse.SUPPRESS)  # cpu:2 stands in
    parser.add_argument("--python", default=sys.executable, metavar="FILE",
                        help="the Python that has PyTorch (this one)")
    parser.add_argument("--dry-run", action="store_true",
                        help="say what would be run, of all visits unless --stages names some")
    options = parser.parse_args(arguments)
    if unknown := [name for name in (options.stages or "").split(",") if name and name not in names]:
        parser.error(f"no stage '{unknown[0]}'; allowed: {', '.join(names)}")
    if options.folder is None and not options.dry_run:
        parser.error("FOLDER is missing")
    if options.bundle is not None and not options.bundle.exists():
        parser.error(f"--bundle: {options.bundle} is not there; scripts/portable makes it")
    if options.choices is not None and not options.choices.is_dir() and not options.dry_run:
        parser.error(f"--choices: there is no folder {options.choices}")
    try:
        plan_for(options.devices)
    except ValueError as error:
        parser.error(str(error))
    return options


def chosen(options, visit):
    """Names of stages, in their order."""
    asked = options.stages.split(",") if options.stages else check.VISITS[visit]
    return [name for name in check.names() if name in asked or name == "environment"]


def warn_of_programs(options):
    """In the first second: what has to be built here costs the time of the stages."""
    if options.bundle is None:
        options.bundle = check.ROOT / programs.BUNDLE
    if not options.bundle.exists():
        built = programs.built(check.ROOT)
        print(f"scripts/gpu-check: warning: {programs.BUNDLE} is not there (scripts/portable makes it); "
              + (f"what was built in {built.origin} is taken" if built
                 else f"programs are built first, which takes up to {check.BUILD_SECONDS} s of the visit's"),
              file=sys.stderr, flush=True)


def dry_run(options):
    run = check.Check(options, pathlib.Path("WORK"))
    for visit in [0] if options.stages else sorted(check.VISITS):
        of_visit = run.stages(chosen(options, visit))
        print(f"{'Stages' if options.stages else f'Visit {visit}'}, on {', '.join(run.plan.devices)}: "
              f"{sum(stage.limit for stage in of_visit):.0f} s")
        for stage in of_visit:
            print(f"  {stage.name}: up to {stage.limit:.0f} s, {stage.what}")
            for command in stage.commands(run.dry_programs()):
                print(f"    {command}")


def execute(options, run):
    budget = Budget(options.seconds)

    def stop(*_):
        if processes.Stop.told:
            raise KeyboardInterrupt
        budget.stop()
        processes.Stop.told = True

    def tell(outcomes):
        save(run, options.folder, outcomes)
        print(f"{outcomes[-1].name}: {outcomes[-1].status}, {outcomes[-1].seconds:.0f} s",
              file=sys.stderr, flush=True)

    of_visit = run.stages(chosen(options, options.visit))
    of_visit[-1].share = 0.97  # nobody waits for what it leaves
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return stages.run_stages(of_visit, budget, tell)


def check_here(options):
    with tempfile.TemporaryDirectory(prefix="strata-gpu-check-", ignore_cleanup_errors=True) as work:
        run = check.Check(options, pathlib.Path(work))
        options.folder.mkdir(parents=True, exist_ok=True)
        try:
            run.prepare(options.choices or options.folder)
            outcomes = execute(options, run)
        except stages.NotAble as reason:
            with contextlib.suppress(OSError):  # it has something of an earlier check
                options.folder.rmdir()
            print(f"scripts/gpu-check: error: {reason}", file=sys.stderr)
            return NOT_ABLE
        finally:
            run.close()
    print(stages.table(outcomes))
    failed = any(outcome.status == stages.FAILED for outcome in outcomes)
    return FOUND if failed or processes.Stop.told else DONE


def main(arguments, usage):
    options = parse(arguments, usage)
    warn_of_programs(options)
    if options.dry_run:
        dry_run(options)
        return DONE
    return check_here(options)
