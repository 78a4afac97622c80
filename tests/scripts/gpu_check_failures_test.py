"""What scripts/gpu-check makes of programs that fail, hang, die or find no time, on programs that the
tests make up: no figure here was measured."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from gpu_check import (machine, plan, prediction, pytorch, pytorch_worker, report, sanitizer, stages,  # noqa: E402
                       turns)


class Made(unittest.TestCase):
    """A folder with programs that a test makes up."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name in ("log", "profiles", "traces"):
            (self.folder / name).mkdir()

    def make(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def section(self, name, result):
        return report.section(stages.Outcome(name, result.status, result.figure, 1.0, result.data))


class Turns(unittest.TestCase):
    def run_for(self, seconds, command, **options):
        with tempfile.TemporaryDirectory() as folder:
            made = turns.Turns(seconds, **options)
            with made.case("it", "so"):
                done = made.run(["sh", "-c", command], pathlib.Path(folder) / "log", None)
                if not done.well:
                    raise RuntimeError(done.complaint())
        return made

    def test_what_fails_is_told_apart_from_what_time_cut_off(self):
        failed = self.run_for(60, "echo 'strata: error: out of memory' >&2; exit 3")
        self.assertEqual(failed.losses(), {"left_out": [], "failed": [
            {"case": "it", "way": "so", "why": "exit code 3: strata: error: out of memory"}]})
        cut = self.run_for(0.2, "sleep 60")
        self.assertEqual((cut.failed, cut.left_out[0]["why"]), ([], "cut off after 0 s"))

    def test_what_had_all_that_a_run_gets_and_did_not_end_hangs(self):
        hangs = self.run_for(60, "sleep 60", most=0.2)
        self.assertEqual((hangs.failed[0]["why"], hangs.left_out), ("ran past its 0 s", []))

    def test_a_fault_of_the_script_is_a_failure_of_that_case_alone(self):
        made = turns.Turns(60)
        with made.case("a"):
            {}["nothing"]
        with made.case("b"):
            made.need(61)
        self.assertEqual(made.words(), ["1 failed, first a: KeyError: 'nothing'", "1 not in the time"])

    def test_the_figure_has_the_first_line_of_the_first_failure(self):
        losses = [{"case": "a", "way": "eager", "why": "first\nsecond"}, {"case": "b", "why": "other"}]
        self.assertEqual(turns.words_of(losses, []), ["2 failed, first a eager: first"])


# compute-sanitizer, made up: {split} is what becomes of devices that have multiprocessors of their own,
# {starts} of any program.
WATCHER = """\
#!/bin/sh
tool=$2
{starts}
case "$*" in *--version) echo "strata 0"; exit ;; esac
echo "$*" >> {folder}/options  # at once: several run beside one another
while [ "$1" != run ]; do shift; done
echo "========= COMPUTE-SANITIZER"
case "$*/$STRATA_CUDA_PARTITIONS" in *cuda:0/2*/shared) ;; *cuda:0/2*) {split} ;; esac
case $tool in
  memcheck) echo "========= ERROR SUMMARY: 0 errors" ;;
  *) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ;;
esac
"""
REFUSED = ("echo '========= Target application returned an error';"
           "echo 'strata: error: no green context' >&2; exit 3")
INVALID = ("echo '========= Invalid __global__ read of size 4 bytes';"
           "echo '========= ERROR SUMMARY: 1 error'; exit 3")


class Sanitizer(Made):
    def check(self, split, strata="exit 0", starts=":"):
        tool = self.make("compute-sanitizer",
                         WATCHER.format(folder=self.folder, split=split, starts=starts))
        programs = {"strata": self.make("strata", f"#!/bin/sh\n{strata}\n")}
        with unittest.mock.patch.object(machine, "find_tool", lambda _: tool):
            return sanitizer.check(plan.plan_for("cuda:0"), programs, self.folder, dict(os.environ), 60)

    def test_both_tools_on_a_whole_gpu_and_on_a_split_one(self):
        result = self.check(split=":")
        self.assertEqual(result.status, "ok")
        self.assertEqual(result.figure,
                         "nothing found by memcheck on cuda:0, racecheck on cuda:0, "
                         "memcheck on cuda:0/2, racecheck on cuda:0/2")
        options = (self.folder / "options").read_text().split()
        self.assertEqual(options[options.index("--report-api-errors") + 1], "no")

    def test_where_green_contexts_cannot_be_watched_multiprocessors_are_shared(self):
        result = self.check(split=REFUSED)
        self.assertEqual(result.status, "ok")
        self.assertIn("memcheck on cuda:0/2, all multiprocessors shared", result.figure)
        self.assertIn("racecheck on cuda:0/2: all multiprocessors shared, since with its own exit code "
                      "3: strata: error: no green context", self.section("sanitizer", result))

    def test_a_machine_that_refuses_the_tools_is_told_and_passed_over(self):
        refuses = "echo '========= Error: Unable to attach: not permitted'; exit 1"
        with self.assertRaisesRegex(stages.Skip, "^this machine refuses memcheck: Error: Unable to attach: "
                                                 "not permitted; this machine refuses racecheck: "):
            self.check(split=":", starts=refuses)
        result = self.check(split=":", starts=f"[ $tool = memcheck ] || {{ {refuses}; }}")
        self.assertEqual(result.status, "ok")
        self.assertEqual(result.figure, "nothing found by memcheck on cuda:0, memcheck on cuda:0/2; this "
                                        "machine refuses racecheck: Error: Unable to attach: not permitted")

    def test_what_is_found_is_not_tried_away(self):
        result = self.check(split=INVALID)
        self.assertEqual(result.status, "FAILED")
        self.assertIn("2 failed, first cuda:0/2", result.figure)
        self.assertIn("1 found: Invalid __global__ read of size 4 bytes",
                      [loss["why"] for loss in result.data["failed"]])
        self.assertEqual({seen["shared"] for seen in result.data["runs"]}, {False})

    def test_a_split_run_that_fails_by_itself_leaves_the_whole_gpus(self):
        fails = "case \"$*\" in *cuda:0/2*) echo 'strata: error: no' >&2; exit 3 ;; esac"
        result = self.check(split=":", strata=fails)
        self.assertEqual(result.status, "FAILED")
        self.assertEqual([seen["devices"] for seen in result.data["runs"]], ["cuda:0"] * 2)
        self.assertIn("cuda:0/2 without the sanitizer: exit code 3", result.figure)

class TimeForOne(turns.Turns):
    """Time for one case, whatever it takes."""

    def need(self, seconds):
        if getattr(self, "used", False):
            raise TimeoutError("no time was left")
        self.used = True


class LittleForEach(turns.Turns):
    """Two seconds for each run, however long the stage."""

    def __init__(self, limit):
        super().__init__(limit, most=2)


# {split} and {whole} are what it does on devices that share a GPU, and on a whole one.
VALIDATE = """\
#!/bin/sh
case "$*" in *cuda:0/*) {split} ;; esac
echo '{{"cases": [{{"model": "'$2'", "batch": 32, "strategy": "data", "predicted_seconds": 1,
       "measured_seconds": 1, "eq1_seconds": 1, "spread_seconds": 0, "relative_error": 0,
       "plain_loops": {{"products": '${{loops:-0}}', "first_status": "BAD_PARAM"}}}}]}}'
{whole}
"""


class Validate(Made):
    def validate(self, split=":", whole=":"):
        programs = {"strata": self.make("strata", VALIDATE.format(split=split, whole=whole))}
        few = plan.Plan(("cuda:0", "cuda:0/2"), ("tf32",), ("alexnet", "vgg16"), (32,), "cuda:0")
        return prediction.validate(few, programs, self.folder, None, 60)

    def test_all_is_well(self):
        result = self.validate(split="case \"$*\" in *--graph*) ;; *) exit 3 ;; esac")
        self.assertEqual([(case["model"], case["device_list"], case["way"]) for case in result.data["cases"]],
                         [("alexnet", "cuda:0", "plain"), ("vgg16", "cuda:0", "plain"),
                          ("alexnet", "cuda:0", "graph"), ("vgg16", "cuda:0", "graph"),
                          ("alexnet", "cuda:0/2", "graph"), ("vgg16", "cuda:0/2", "graph")])
        self.assertEqual(self.validate().status, "ok")

    def test_runs_that_fail_on_a_split_gpu_fail_the_stage(self):
        result = self.validate(split="echo 'strata: error: no stream' >&2; exit 3")
        self.assertEqual(result.status, "FAILED")
        self.assertIn("4 cases", result.figure)
        self.assertIn("4 failed, first alexnet-32-tf32-cuda0x2: exit code 3: strata: error: no stream",
                      result.figure)
        self.assertIn("* vgg16-32-tf32-cuda0x2: exit code 3: strata: error: no stream",
                      self.section("validate", result))

    def test_bytes_that_were_not_planned_fail_the_stage_and_keep_the_figures(self):
        result = self.validate(whole="echo 'strata: error: moved 7 bytes' >&2; exit 1")
        self.assertEqual((result.status, len(result.data["cases"])), ("FAILED", 8))
        self.assertIn("8 failed, first alexnet-32-tf32-cuda0: exit code 1: strata: error: moved 7 bytes",
                      result.figure)

    def test_products_on_plain_loops_fail_the_stage_and_keep_the_figures(self):
        result = self.validate(split="loops=3")
        self.assertEqual((result.status, len(result.data["cases"])), ("FAILED", 8))
        self.assertIn("4 failed, first alexnet-32-tf32-cuda0x2: data: 3 products on plain loops: BAD_PARAM",
                      result.figure)

    def test_text_that_is_no_document_fails_its_run(self):
        result = self.validate(split="echo '{'; exit 0")
        self.assertEqual((len(result.data["cases"]), len(result.data["failed"])), (4, 4))

    def test_what_is_cut_at_the_most_that_a_run_gets_keeps_its_cases_and_is_no_failure(self):
        hangs = "case \"$*\" in *vgg16*) exec sleep 60 ;; esac"
        with unittest.mock.patch.object(prediction, "Turns", LittleForEach):
            result = self.validate(whole=hangs)
            self.assertEqual((result.status, len(result.data["cases"]), result.data["failed"]),
                             ("partial", 8, []))
            self.assertEqual([loss["why"] for loss in result.data["left_out"]], ["cut off after 2 s"] * 4)
            result = self.validate(split=hangs)  # with nothing said
            self.assertEqual((result.status, len(result.data["cases"])), ("FAILED", 6))
            self.assertEqual([loss["why"] for loss in result.data["failed"]], ["ran past its 2 s"] * 2)

    def test_partial_where_only_time_was_missing(self):
        with unittest.mock.patch.object(prediction, "Turns", TimeForOne):
            result = self.validate()
            self.assertEqual(result.status, "partial")
            self.assertTrue(result.figure.endswith(", 7 not in the time"))
            self.assertIn("Not in the time:\n\n* vgg16-32-tf32-cuda0: no time was left",
                          self.section("validate", result))
            self.assertEqual(self.validate(whole="exit 1").status, "FAILED")


# Writes a line for each network into its profile, as --merge has it: {fails} is a network's name. That of
# `slow` takes too long, and is written when it is interrupted.
PROFILE = """\
#!/bin/sh
network=$2 file= merge=
while [ $# -gt 0 ]; do case $1 in -o) file=$2 ;; --merge) merge=1 ;; esac; shift; done
[ $network != {fails} ] || {{ echo 'strata: error: made up to fail' >&2; exit 3; }}
[ -n "$merge" ] || : > $file
if [ $network = slow ]; then trap 'stopped=1' INT; sleep 60; fi
echo $network >> $file
echo '{{"measured_costs": '$(wc -l < $file)', "measured_moves": 1, "measure_seconds": 2,
      "profile": "'$file'"}}'
exit ${{stopped:-0}}
"""


class Profile(Made):
    def profile(self, fails, networks=("alexnet", "vgg16", "resnet50"), dtypes=("tf32", "bf16"), limit=60):
        programs = {"strata": self.make("strata", PROFILE.format(fails=fails))}
        few = plan.Plan(("cuda:0",), dtypes, networks, (32,), "cuda:0")
        return prediction.profile(few, programs, self.folder, None, limit)

    def test_each_network_is_a_process_and_adds_to_what_is_there(self):
        result = self.profile(fails="nothing")
        self.assertEqual((result.status, result.figure),
                         ("ok", "tf32: 3 costs of 3 networks in 6 s; bf16: 3 costs of 3 networks in 6 s"))
        for dtype in ("tf32", "bf16"):
            self.assertEqual((self.folder / "profiles" / f"cuda-{dtype}.toml").read_text(),
                             "alexnet\nvgg16\nresnet50\n")
        self.assertIn("| tf32 | cuda-tf32.toml | alexnet, vgg16, resnet50 | 3 | 1 | 6 s |",
                      self.section("profile", result))

    def test_one_that_fails_costs_no_other_its_rows(self):
        for fails, kept in (("alexnet", "vgg16\nresnet50\n"), ("vgg16", "alexnet\nresnet50\n")):
            result = self.profile(fails)
            self.assertEqual(result.status, "FAILED")
            self.assertEqual((self.folder / "profiles" / "cuda-bf16.toml").read_text(), kept)
            self.assertIn(f"2 failed, first tf32 {fails}: exit code 3", result.figure)

    def test_one_that_is_cut_at_the_most_that_a_run_gets_keeps_its_own_too(self):
        with unittest.mock.patch.object(prediction, "Turns", LittleForEach):
            result = self.profile("nothing", ("slow", "vgg16"), ("bf16",))
        self.assertEqual((result.status, result.data["failed"]), ("partial", []))
        self.assertEqual((self.folder / "profiles" / "cuda-bf16.toml").read_text().split(), ["slow", "vgg16"])

    def test_one_that_time_ends_keeps_its_own(self):
        others = [f"n{i}" for i in range(40)]  # so that each has little of the time
        result = self.profile("nothing", ("slow", *others), ("bf16",), limit=20)
        self.assertEqual(result.status, "partial")
        self.assertEqual([loss["way"] for loss in result.data["left_out"]], ["slow"])
        self.assertEqual((self.folder / "profiles" / "cuda-bf16.toml").read_text().split(), ["slow", *others])
        self.assertEqual(result.data["profiles"][0]["measured_costs"], 41)


STRATA = """\
#!/bin/sh
case "$*" in {fails}) echo 'strata: error: made up to fail' >&2; exit 3 ;; esac
echo '{{"step_seconds": '$([ $1 = run ] && echo '{{"median": 0.25}}' || echo 0.125)',
      "plain_loops": {{"products": '$(case "$*" in {loops}) echo 3 ;; *) echo 0 ;; esac)',
                      "first_status": "BAD_PARAM"}},
      "layers": [{{"name": "fc", "inputs": [], "macs": 10}}]}}'
"""

PYTORCH = """\
#!{python}
import json, os, sys
print(json.dumps({{"torch": "made up"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    do = request.pop("do")
    {on_load}
    print(json.dumps({{"ceilings": {{"tf32_flops_per_second": 1e6}}, "load": {{"load_seconds": 1}},
                      "steps": {{"step_seconds": [0.5]}}}}[do]), flush=True)
"""
DIES = """if do == "load" and request["network"] == "vgg16" and not request["compile"]:
        print("Segmentation fault", file=sys.stderr); sys.stderr.flush(); os._exit(9)"""


class PyTorch(Made):
    def compare(self, fails="nothing", on_load="pass", loops="nothing"):
        programs = {"strata": self.make("strata", STRATA.format(fails=fails, loops=loops))}
        python = self.make("python", PYTORCH.format(python=sys.executable, on_load=on_load))
        few = plan.Plan(("cuda:0",), ("tf32",), ("alexnet", "vgg16", "resnet50"), (32,), "cuda:0")
        return pytorch.compare(few, programs, python, self.folder, None, 60)

    def test_all_is_well(self):
        result = self.compare()
        self.assertEqual((result.status, len(result.data["rows"])), ("ok", 3))
        self.assertEqual(result.data["rows"][0]["roofline_seconds"], 0.125)

    def test_a_way_that_fails_beside_one_that_does_not_fails_the_stage(self):
        result = self.compare(fails="*--graph*")
        self.assertEqual(result.status, "FAILED")
        self.assertEqual([row["strata_failed"] for row in result.data["rows"]],
                         [{"recorded": "strata, recorded: exit code 3: strata: error: made up to fail"}] * 3)
        self.assertIn("3 failed, first alexnet-32-tf32-cuda0 strata, recorded: ", result.figure)
        self.assertIn("| plain, recorded failed |", self.section("pytorch", result))

    def test_a_run_with_products_on_plain_loops_fails_and_is_not_held_beside_pytorch(self):
        result = self.compare(loops="run*vgg16*")
        self.assertEqual([row["network"] for row in result.data["rows"]], ["alexnet", "resnet50"])
        self.assertEqual(result.status, "FAILED")
        self.assertEqual(result.data["failed"][0]["why"],
                         "strata, plain: 3 products on plain loops: BAD_PARAM; "
                         "strata, recorded: 3 products on plain loops: BAD_PARAM")

    def test_a_network_that_neither_way_can_run(self):
        result = self.compare(fails="*vgg16*")
        self.assertEqual([row["network"] for row in result.data["rows"]], ["alexnet", "resnet50"])
        self.assertEqual(result.data["failed"][0]["why"],
                         "strata, plain: exit code 3: strata: error: made up to fail; "
                         "strata, recorded: exit code 3: strata: error: made up to fail")

    def test_a_process_that_dies_is_followed_by_another_and_no_row_is_lost(self):
        result = self.compare(on_load=DIES)
        self.assertEqual(result.status, "FAILED")
        self.assertEqual(result.data["failed"], [{"case": "vgg16-32-tf32-cuda0", "way": "eager",
                                                  "why": "PyTorch ended: Segmentation fault"}])
        self.assertEqual([sorted({"eager", "compile"} & set(row)) for row in result.data["rows"]],
                         [["compile", "eager"], ["compile", "eager"], ["compile"]])
        self.assertEqual(sorted(path.name for path in (self.folder / "log").glob("pytorch-*")),
                         ["pytorch-1.err", "pytorch-2.err"])

    def test_what_pytorch_says_it_cannot_do_is_a_failure_with_its_first_line(self):
        result = self.compare(on_load="if request.get('compile'): "
                              "print(json.dumps({'error': 'no compiler\\nmore'}), flush=True); continue")
        self.assertEqual((result.status, len(result.data["rows"])), ("FAILED", 3))
        self.assertTrue(result.figure.endswith(
            "3 failed, first alexnet-32-tf32-cuda0 compile: PyTorch: no compiler"))

    def test_partial_where_only_time_was_missing(self):
        with unittest.mock.patch.object(pytorch, "Turns", TimeForOne):
            self.assertEqual(self.compare().status, "partial")
            self.assertEqual(self.compare(fails="*--graph*").status, "FAILED")

    def test_who_asks_a_process_that_has_ended_is_told_what_it_said(self):
        python = self.make("python", "#!/bin/sh\necho 'out of memory' >&2\n")
        worker = pytorch_worker.Worker(python, "cuda:0", self.folder, "it")
        worker.process.wait()
        for _ in range(2):
            with self.assertRaisesRegex(pytorch_worker.Died, "PyTorch ended: out of memory"):
                worker.tell(do="load")
        worker.close()


if __name__ == "__main__":
    unittest.main()
