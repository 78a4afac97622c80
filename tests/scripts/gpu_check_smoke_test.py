"""The short runs that scripts/gpu-check begins with, and the tests that it runs again, on programs that
the tests make up: no figure here was measured."""

import json
import os
import pathlib
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from gpu_check import again, check, machine, plan, report, smoke, stages  # noqa: E402

# {does} may change what is printed, or end it. Each run chooses an engine.
STRATA = """\
#!/bin/sh
machine='2 x 64 of 132 SMs' loss=2.25 loops='{{"products": 0, "first_status": null}}'
[ "$STRATA_CUDA_PARTITIONS" != shared ] || machine='2 devices share 132 SMs'
mkdir -p $XDG_CACHE_HOME/strata
echo "key	engine" >> $XDG_CACHE_HOME/strata/cudnn-plans.tsv
case "$*/$STRATA_CUDA_PARTITIONS" in {does} esac
echo '{{"machine": "'$machine'", "losses": [2.5, '$loss'], "plain_loops": '$loops',
      "step_seconds": {{"median": 0.0015}},
      "issue_seconds": {{"median": 0.0014, "min": 0.0009, "per_task": 0.0000125}}}}'
"""
SEEN = {"cudnn": {"convolutions": [{"product": "forward", "heuristics_seconds": 0.02, "plan_seconds": 0.005,
                                   "first_run_seconds": 0.003, "second_run_seconds": 0.0001}]},
        "cublas": {"first_run_seconds": 0.004, "second_run_seconds": 0.0002}}
OVERHEADS = {"empty_event_pair": {"median_seconds": 2e-6, "least_seconds": 1e-6, "most_seconds": 3e-6},
             "launched_chain": {"seconds_per_task": 4e-6, "begin_seconds": 1e-6, "host_seconds_per_task": 2e-6},
             "recorded_chain": {"seconds_per_task": 1.5e-6, "begin_seconds": 9e-6, "host_seconds_per_task": 0},
             "copies": [{"host": "pageable", "to_gpu": True, "bytes": 65536, "seconds": 1e-5}],
             "fp32": SEEN, "tf32": SEEN, "bf16": SEEN}
WATCHER = """\
#!/bin/sh
while [ "$1" != run ] && [ "$1" != --version ]; do shift; done
case "$*" in {does} esac
echo "========= ERROR SUMMARY: 0 errors"
"""


class Made(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder, self.lines = pathlib.Path(temporary.name), []
        (self.folder / "log").mkdir()

    def make(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path


class Smoke(Made):
    def run_all(self, does="", watcher=None, overheads=f"echo '{json.dumps(OVERHEADS)}'", limit=60):
        programs = {"strata": self.make("strata", STRATA.format(does=does)),
                    "exec_cuda_gpu_overheads": self.make("overheads", f"#!/bin/sh\n{overheads}\n")}
        tool = None if watcher is None else self.make("tool", WATCHER.format(does=watcher))
        environment = machine.environment(self.folder, "cache")
        with unittest.mock.patch.object(machine, "find_tool", lambda _: tool):
            return smoke.check(plan.plan_for("cuda:0"), programs, self.folder, environment, limit,
                               self.lines.append)

    def why(self, result):
        return {loss["case"]: loss["why"] for loss in result.data["failed"]}

    def test_all_kinds_of_runs(self):
        result = self.run_all(watcher="")
        self.assertEqual((result.status, result.figure), ("ok", "54 runs"))
        self.assertEqual(self.lines[0], "overheads: an empty pair of events 2.00 us, a launched task 4.00 us, "
                                        "a recorded task 1.50 us")
        self.assertEqual(self.lines[1], "lenet5 fp32 cuda:0 plain: ok, 1 engines chosen, 0 products on "
                                        "plain loops, step 1.500 ms, host 12.5 us a task")
        self.assertIn("lenet5 bf16 cuda:0/2 green graph: ok, ", "\n".join(self.lines))
        self.assertEqual(self.lines[16:18], ["lenet5 cuda:0 memcheck: ok", "lenet5 cuda:0/2 memcheck: ok"])
        self.assertEqual(result.data["partitions"], "green")
        section = report.section(stages.Outcome("smoke", "ok", "", 1.0, result.data))
        self.assertIn("| resnet18 | tf32 | cuda:0/2 shared | serial | 2 devices share 132 SMs | 1 | 0 | "
                      "1.500 ms |", section)
        self.assertIn("| 64 KiB to the GPU, pageable memory | 10.00 us, 6.55 GB/s |", section)
        self.assertIn("| cuDNN: forward | heuristics 20.0 ms, a plan 5.0 ms, first run 3.00 ms, second 0.10 ms |",
                      section)

    def test_what_comes_first_has_each_type_and_each_way_everywhere(self):
        first = [case for case in smoke.cases(plan.plan_for("cuda:0"))][:30]
        for network in ("lenet5", "resnet18"):
            for place in ("cuda:0", "cuda:0/2 shared", "cuda:0/2 green"):
                seen = {(case.dtype, case.way) for case in first
                        if case.network == network and case.place == place}
                self.assertEqual(seen, {("fp32", "plain"), ("tf32", "plain"), ("bf16", "plain"),
                                        ("bf16", "serial"), ("bf16", "graph")})

    def test_products_on_plain_loops_fail(self):
        result = self.run_all("*resnet18*bf16*--graph*) loops='{\"products\": 3, \"first_status\": \"BAD_PARAM\"}' ;;")
        self.assertEqual(self.why(result), {f"resnet18 bf16 {place} graph": "3 products on plain loops: BAD_PARAM"
                                            for place in ("cuda:0", "cuda:0/2 shared", "cuda:0/2 green")})
        self.assertEqual((result.status, result.data["partitions"]), ("FAILED", "green"))

    def test_losses_that_are_off_fail(self):
        does = "*lenet5*cuda:0\\ *bf16*--serial*) loss=2.5 ;; *lenet5*cuda:0\\ *bf16*--graph*) loss=null ;;"
        self.assertEqual(self.why(self.run_all(does)),
                         {"lenet5 bf16 cuda:0 serial": "the last loss is 2.5000, the first run's was 2.2500",
                          "lenet5 bf16 cuda:0 graph": "the last loss is None"})

    def test_where_green_contexts_fail_they_are_given_up(self):
        badly, none = "exit code 3: strata: error: no stream", "2 devices share 132 SMs (no green contexts: made up)"
        fp32, tf32 = "lenet5 fp32 cuda:0/2 green plain", "lenet5 tf32 cuda:0/2 green plain"
        for does, why in (("*/green) echo 'strata: error: no stream' >&2; exit 3 ;;", {fp32: badly, tf32: badly}),
                          (f"*/green) machine='{none}' ;;", {fp32: none})):
            result = self.run_all(does)
            self.assertEqual(self.why(result), why)
            self.assertEqual((result.status, result.data["partitions"]), ("FAILED", "shared"))
            self.assertEqual(len(result.data["left_out"]), 18 - len(why))
            self.assertIn("green contexts fail: what follows runs without them", result.figure)

    def test_one_green_run_that_fails_does_not_give_them_up(self):
        result = self.run_all("*lenet5*bf16*--graph*/green) exit 3 ;;")
        self.assertEqual(self.why(result), {"lenet5 bf16 cuda:0/2 green graph": "exit code 3: said nothing"})
        self.assertEqual((result.status, result.data["left_out"], result.data["partitions"]),
                         ("FAILED", [], "green"))

    def test_a_run_that_hangs_fails_and_is_named(self):
        with unittest.mock.patch.object(smoke, "RUN_SECONDS", 3):
            result = self.run_all("*lenet5*bf16*/green) exec sleep 60 ;;")
        self.assertEqual(self.why(result), {f"lenet5 bf16 cuda:0/2 green {way}": "hangs: ran past its 3 s"
                                            for way in ("plain", "serial")})
        self.assertIn("2 failed, first lenet5 bf16 cuda:0/2 green plain: hangs: ran past its 3 s", result.figure)
        self.assertEqual((result.status, result.data["partitions"]), ("FAILED", "shared"))

    def test_runs_that_the_stages_time_cuts_off_are_left_out_and_say_nothing_of_green_contexts(self):
        hangs = "*lenet5*bf16*/green) exec sleep 60 ;;"
        result = self.run_all(hangs, limit=8)
        self.assertEqual((result.status, result.data["failed"], result.data["partitions"]),
                         ("partial", [], "green"))
        self.assertTrue(result.data["left_out"][0]["why"].startswith("cut off after "))

    def test_what_fails_on_shared_devices_too_says_nothing_of_green_contexts(self):
        result = self.run_all("*cuda:0/2*) exit 3 ;;", overheads="echo 'strata: error: no events' >&2; exit 3")
        self.assertEqual((result.status, len(result.data["failed"]), result.data["partitions"]),
                         ("FAILED", 1 + 36, ""))
        self.assertEqual(self.lines[0], "overheads: exit code 3: strata: error: no events")
        section = report.section(stages.Outcome("smoke", "FAILED", "", 1.0, result.data))
        self.assertNotIn("measured once", section)

    def test_overheads_keep_the_parts_that_went_well(self):
        unplanned = {"product": "data", "heuristics_seconds": 0.02, "engines": 0, "engine": None}
        parts = {"fp32": {**SEEN, "cudnn": {"convolutions": [unplanned]}}, "failed": {"bf16": "made up"}}
        result = self.run_all(overheads=f"echo '{json.dumps(parts)}'; exit 3")
        self.assertEqual(result.status, "FAILED")
        section = report.section(stages.Outcome("smoke", "FAILED", "", 1.0, result.data))
        self.assertIn("| cuDNN: data | heuristics 20.0 ms, no engine takes it |", section)
        self.assertIn("| bf16: failed | made up |", section)
        self.assertNotIn("empty pair", section)

    def test_memcheck_is_passed_over_where_it_is_refused_and_fails_where_it_finds(self):
        result = self.run_all(watcher="--version) echo '========= Error: not permitted'; exit 1 ;;")
        self.assertEqual((result.status, self.lines[16]), ("ok", "memcheck: it is not there, or refused"))
        self.lines = []
        result = self.run_all(watcher="run*cuda:0/2*) echo '========= Invalid read';"
                                      "echo '========= ERROR SUMMARY: 1 error'; exit 1 ;;")
        self.assertEqual(self.lines[17], "lenet5 cuda:0/2 memcheck: 1 found: Invalid read")
        self.assertEqual(result.status, "FAILED")


class Partitions(Made):
    def checked(self, earlier):
        options = type("Options", (), {"devices": "cuda:0"})()
        work = self.folder / "work"
        work.mkdir()
        made = check.Check(options, work)
        made.prepare(earlier)
        return made

    def test_what_an_earlier_check_said_of_green_contexts_holds(self):
        self.assertFalse(self.checked(self.folder).shares())

    def test_a_report_that_cannot_be_read_says_nothing(self):
        for text in ("{", "[]", "{}"):
            (self.folder / "report.json").write_text(text)
            self.assertEqual(report.stages_of(self.folder), [])

    def test_no_green_contexts_where_they_failed_before(self):
        outcome = stages.Outcome("smoke", "FAILED", "", 1.0, {"partitions": "shared", "runs": []})
        report.write(self.folder, [outcome], False)
        made = self.checked(self.folder)
        self.assertEqual(made.timed["STRATA_CUDA_PARTITIONS"], "shared")
        with self.assertRaises(stages.Skip):
            made.kernels_shared(60)
        made.share("green")  # as smoke found here
        self.assertEqual(made.timed["STRATA_CUDA_PARTITIONS"], "green")

    def test_a_check_hands_on_what_it_was_told(self):
        told = [stages.Outcome("environment", "ok", "", 1.0, {"partitions": "shared"}),
                stages.Outcome("validate", "ok", "", 1.0, {})]
        report.write(self.folder, told, False)
        self.assertTrue(self.checked(self.folder).shares())


PROGRAM = """\
#!/bin/sh
test=${1#--gtest_filter=}
echo "[ RUN      ] $test"
echo "somewhere.cpp:1: blocking $CUDA_LAUNCH_BLOCKING" >&2
case $test$CUDA_LAUNCH_BLOCKING in *Fails*|*Races) echo "[  FAILED  ] $test (1 ms)"; exit 1 ;; *Crashes*) kill -SEGV $$ ;; esac
echo "[       OK ] $test (1 ms)"
"""
MEMCHECK = """\
#!/bin/sh
while [ "${1%program}" = "$1" ]; do shift; done
echo '========= Invalid write'
exec "$@"
"""


class Again(Made):
    def run_again(self, *tests):
        program, tool = self.make("program", PROGRAM), self.make("tool", MEMCHECK)
        until = time.monotonic() + 60
        with unittest.mock.patch.object(machine, "find_tool", lambda _: tool):
            return again.check([again.Broken(program, test, dict(os.environ)) for test in tests],
                               self.folder, lambda: until - time.monotonic())

    def test_each_alone_and_under_memcheck(self):
        result = self.run_again("A.Fails", "A/1.Crashes", "A.Passes")
        self.assertEqual((result.status, result.figure),
                         ("FAILED", "3 of 3 failed tests again: 1 pass alone; A.Fails: FAILED; "
                                    "A/1.Crashes: exit code -11: somewhere.cpp:1: blocking "))
        alone, blocking, watched = result.data["tests"][0]["ways"]
        self.assertEqual(alone["lines"], ["somewhere.cpp:1: blocking "])
        self.assertEqual(blocking["lines"], ["somewhere.cpp:1: blocking 1"])
        self.assertEqual(watched["lines"], ["========= Invalid write", "somewhere.cpp:1: blocking "])
        section = report.section(stages.Outcome("again", "FAILED", "", 1.0, result.data))
        self.assertIn("A.Fails:\n\n* alone: FAILED\n* alone, launches blocking: FAILED\n* memcheck: FAILED\n",
                      section)

    def test_one_that_blocking_launches_hide_is_not_said_to_pass(self):
        result = self.run_again("A.Races")
        self.assertEqual((result.status, result.figure),
                         ("FAILED", "1 of 1 failed tests again: 0 pass alone; A.Races: FAILED"))
        self.assertEqual([way["passed"] for way in result.data["tests"][0]["ways"]], [False, True, False])

    def test_the_first_five(self):
        result = self.run_again(*(f"A.Passes{n}" for n in range(7)))
        self.assertEqual((result.status, result.figure), ("ok", "5 of 7 failed tests again: 5 pass alone"))

    def test_none_where_none_failed(self):
        with self.assertRaisesRegex(stages.Skip, "no test failed"):
            self.run_again()


if __name__ == "__main__":
    unittest.main()
