"""The parts of scripts/gpu-check that read what programs say and put it together, on texts made up
for the tests: no figure here was measured."""

import contextlib
import errno
import io
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from gpu_check import (command, machine, numerics, plan, prediction, processes, programs, pytorch,  # noqa: E402
                       report, sanitizer, shares, stages)

SHARD = """\
[ RUN      ] Op/AgainstReference.Whole/relu_1d_fp32
agreement {"suite": "Op/AgainstReference", "case": "Whole/relu", "precision": "fp32", "error": 1.5e-06, "tolerance": 1e-05}
[       OK ] Op/AgainstReference.Whole/relu_1d_fp32 (12 ms)
[ RUN      ] Op/AgainstReference.Whole/conv2d_bf16
somewhere.cpp:1: Failure
agreement {"suite": "Op/AgainstReference", "case": "Whole/conv2d", "precision": "bf16", "error": inf, "tolerance": 3e-02}
[  FAILED  ] Op/AgainstReference.Whole/conv2d_bf16, where GetParam() = (conv2d, bf16) (7 ms)
[ RUN      ] Op/AgainstReference.Whole/conv3d_fp32
"""


def case(strategy, predicted, measured, devices="cuda:0/2", model="alexnet", batch=32, dtype="tf32",
         way="plain"):
    return {"model": model, "batch": batch, "dtype": dtype, "device_list": devices,
            "way": way, "strategy": strategy, "predicted_seconds": predicted, "measured_seconds": measured,
            "eq1_seconds": predicted, "spread_seconds": 0.0,
            "relative_error": predicted / measured - 1}


class Machine(unittest.TestCase):
    def test_gpus_are_read_line_by_line(self):
        text = "A GPU, 580.1, 100 MiB, 345 MHz, 1980 MHz, 3201 MHz, 700.00 W, 30\n\nnonsense\n"
        self.assertEqual([gpu["name"] for gpu in machine.parse_gpus(text)], ["A GPU"])
        self.assertEqual(machine.parse_gpus(text)[0]["clocks.max.sm"], "1980 MHz")
        self.assertEqual(machine.parse_gpus("No devices were found\n"), [])

    def test_a_driver_that_does_not_answer_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder) / "nvidia-smi"
            for does, reason in (("exec sleep 60", "nvidia-smi: ran past its 0 s"),
                                 ("echo 'No devices were found'", "nvidia-smi: No devices were found")):
                tool.write_text(f"#!/bin/sh\n{does}\n")
                tool.chmod(0o755)
                with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), \
                        unittest.mock.patch.object(machine, "GPUS_SECONDS", 0.4):
                    self.assertEqual(machine.gpus(f"{folder}/log"), ([], reason))

    def test_the_libraries_of_wheels_come_before_what_was_known(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "nvidia" / "cudnn" / "lib").mkdir(parents=True)
            sys.path.insert(0, folder)
            try:
                made = machine.environment("/made/up", "cache", {"LD_LIBRARY_PATH": "/known"})
            finally:
                sys.path.remove(folder)
            first = f"{folder}/nvidia/cudnn/lib"
            self.assertIn(first, made["STRATA_CUDA_LIBRARIES"].split(":"))
            self.assertTrue(made["LD_LIBRARY_PATH"].endswith(":/known"))
            self.assertEqual(made["XDG_CACHE_HOME"], "/made/up/cache")


class Numerics(unittest.TestCase):
    def test_a_program_that_was_cut_short_tells_what_it_was_at(self):
        self.assertEqual(list(shares.outcomes(SHARD).values()), ["OK", "FAILED", "cut short"])
        self.assertEqual(numerics.agreements_of(SHARD)[1]["error"], float("inf"))

    def test_all_shares_together(self):
        data = numerics.summarise([SHARD, ""], listed=5)
        self.assertEqual((data["passed"], data["not_begun"]), (1, 2))
        self.assertEqual(data["failed"], ["Op/AgainstReference.Whole/conv2d_bf16"])
        self.assertEqual(numerics.figure(data), "1 of 5 passed, 1 failed, 1 cut short, 2 not begun; "
                                                "largest errors: bf16 inf, fp32 1.5e-06")

    def test_a_line_that_breaks_off_costs_no_other(self):
        cut = SHARD + 'agreement {"suite": "Op/AgainstRef'
        data = numerics.summarise([cut, SHARD], listed=5)
        self.assertEqual(len(data["agreements"]), 2 * len(numerics.agreements_of(SHARD)))
        self.assertEqual(data["broken_lines"], 1)
        self.assertIn(", 1 agreement lines break off; largest errors: ", numerics.figure(data))

    def test_partial_where_only_time_was_missing(self):
        clean = SHARD.replace("  FAILED  ", "       OK ").replace(", where GetParam() = (conv2d, bf16)", "")
        data = numerics.summarise([clean], listed=4) | {"crashed": []}
        self.assertEqual(numerics.judge(data, cut_short=True), "partial")
        self.assertEqual(numerics.judge(data, cut_short=False), "FAILED")
        self.assertEqual(numerics.judge(data | {"crashed": ["x"]}, cut_short=True), "FAILED")
        self.assertEqual(numerics.judge(data | {"failed": ["x"]}, cut_short=True), "FAILED")
        self.assertEqual(numerics.judge(data | {"tests": 2}, cut_short=False), "ok")
        self.assertEqual(numerics.judge(data | {"skipped": 2}, cut_short=False), "ok")


class Sanitizer(unittest.TestCase):
    def test_what_was_found(self):
        clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
        self.assertEqual(sanitizer.parse_report("memcheck", clean), {"findings": 0, "places": []})
        race = ("========= COMPUTE-SANITIZER\n========= Error: Race reported between ...\n"
                "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n")
        self.assertEqual(sanitizer.parse_report("racecheck", race),
                         {"findings": 2, "places": ["Error: Race reported between ..."]})

    def test_hazards_within_libraries_are_not_findings(self):
        def hazard(kernel):
            return ("========= Error: Potential WAR hazard detected at __shared__ 0x70 in block (7,2,0) :\n"
                    f"=========     Read Thread (31,0,0) at {kernel}+0xa50\n"
                    f"=========     Write Thread (256,0,0) at {kernel}+0x4220\n========= \n")
        theirs, ours = hazard("nvjet_sm90_tst_128x128_64x6"), hazard("strata::cuda::each_kernel")
        summary = "========= RACECHECK SUMMARY: {} hazards displayed ({} errors, 0 warnings)\n"
        self.assertEqual(sanitizer.parse_report("racecheck", theirs + theirs + summary.format(2, 2)),
                         {"findings": 0, "places": []})
        most = sanitizer.MOST_PRINTED
        cut = sanitizer.parse_report("racecheck", most * theirs + summary.format(most, most))
        self.assertEqual(cut["findings"], 1)
        self.assertIn("others were not seen", cut["places"][0])
        both = sanitizer.parse_report("racecheck", theirs + ours + theirs + summary.format(3, 3))
        self.assertEqual(both["findings"], 1)
        self.assertEqual(len(both["places"]), 3)

    def test_without_a_summary_nothing_is_clean(self):
        self.assertIsNone(sanitizer.parse_report("memcheck", "========= Internal error\n")["findings"])


class Prediction(unittest.TestCase):
    def test_pairs_are_ranked_where_their_times_are_apart(self):
        cases = [case("data", 1.0, 1.0), case("model", 2.0, 1.2), case("owt", 0.9, 1.01)]
        self.assertEqual(prediction.rank_pairs(cases), (2, 2))  # data and owt are too near
        cases.append(case("optimal", 3.0, 0.5))
        self.assertEqual(prediction.rank_pairs(cases), (2, 5))

    def test_pairs_are_of_one_run(self):
        self.assertEqual(prediction.rank_pairs([case("data", 1, 1), case("data", 2, 3, "cuda:0/4"),
                                                case("model", 2, 3, way="graph")]), (0, 0))

    def test_one_device_counts_once_and_is_the_papers_column(self):
        cases = [case("data", 1.02, 1.0, "cuda:0"), case("model", 1.03, 1.0, "cuda:0"),
                 case("data", 1.10, 1.0), case("data", 1.5, 1.0, "cuda:0", batch=256)]
        data = prediction.summarise(cases, "cuda:0")
        self.assertEqual(len(data["cases"]), 3)
        self.assertAlmostEqual(data["max_absolute_error"], 0.5)
        self.assertAlmostEqual(data["paper"]["alexnet"]["eq1_error"], 0.02)
        self.assertEqual(data["paper"]["alexnet"]["paper_per_cent"], 1)

    def test_within_the_limits_where_all_that_was_run_is(self):
        data = prediction.summarise([case("data", 1.02, 1.0)], "cuda:0")
        self.assertTrue(prediction.is_within(data))
        self.assertFalse(prediction.is_within(data | {"max_absolute_error": 0.11}))
        self.assertIn("allowed: mean 5 %, largest 10 %",
                      prediction.figure(data | {"max_absolute_error": 0.11}, []))
        self.assertTrue(prediction.figure(data, ["1 not in the time"]).endswith(", 1 not in the time"))
        nothing = prediction.summarise([], "cuda:0")
        self.assertEqual(prediction.figure(nothing, []), "0 cases")

    def test_names_are_good_for_files(self):
        self.assertEqual(prediction.case_name("vgg16", 32, "bf16", "cuda:0/4"), "vgg16-32-bf16-cuda0x4")


class Plans(unittest.TestCase):
    def test_a_gpu_is_shared_by_two_and_four(self):
        self.assertEqual(plan.plan_for("cuda:1").devices, ("cuda:1", "cuda:1/2", "cuda:1/4"))
        self.assertEqual(len(plan.plan_for("cuda:0").cases()), 16)

    def test_all_networks_run_on_one_device_first(self):
        runs = plan.plan_for("cuda:0").runs()
        self.assertEqual(len(runs), 48)
        self.assertEqual({run[3] for run in runs[:4]}, {"cuda:0"})
        self.assertEqual({run[0] for run in runs[:4]}, set(plan.NETWORKS))

    def test_cores_stand_in(self):
        made = plan.plan_for("cpu:2")
        self.assertTrue(made.stand_in)
        self.assertEqual((made.one, made.shared), ("cpu:1", "cpu:2"))

    def test_others_are_refused(self):
        for text in ("", "cuda:", "cuda:0/2", "cpu:0", "tpu:0"):
            with self.assertRaises(ValueError):
                plan.plan_for(text)


class PyTorch(unittest.TestCase):
    def test_steps_fill_the_time_within_limits(self):
        self.assertEqual([pytorch.steps_for(s) for s in (1e-4, 0.035, 1.0)], [100, 20, 15])

    def test_ratios_are_of_each_block(self):
        blocks = [{"strata_seconds": 1.0, "pytorch_seconds": 2.0},
                  {"strata_seconds": 3.0, "pytorch_seconds": 2.0}]
        made = pytorch.summarise_way(blocks)
        self.assertEqual((made["ratio"], made["ratio_min"], made["ratio_max"]), (1.0, 0.5, 1.5))

    def test_the_figure_counts_both_ways(self):
        rows = [{"eager": {"ratio": 0.9}, "compile": {"ratio": 1.2}}, {"eager": {"ratio": 1.1}}]
        self.assertEqual(pytorch.figure(rows, ["1 not in the time"]),
                         "eager: faster in 1 of 2, ratio 0.90 to 1.10; "
                         "compile: faster in 0 of 1, ratio 1.20 to 1.20; 1 not in the time")


class Stages(unittest.TestCase):
    def setUp(self):
        self.time, self.written = 0.0, []

    def stage(self, name, work, **options):
        def takes(seconds):
            self.time += 10
            return work(seconds)
        return stages.Stage(name, "", takes, **{"limit": 20, **options})

    def run_all(self, seconds, *all_stages):
        budget = stages.Budget(seconds, lambda: self.time)
        return stages.run_stages(all_stages, budget, lambda o: self.written.append(len(o)))

    def test_what_fails_does_not_stop_the_rest(self):
        def fails(_):
            raise RuntimeError("made up")

        def skips(_):
            raise stages.Skip("no tool")

        outcomes = self.run_all(100, self.stage("a", fails), self.stage("b", skips),
                                self.stage("c", lambda s: stages.Result("ok", f"{s:.0f} s")),
                                self.stage("d", lambda s: stages.Result("FAILED", "wrong\nfor two reasons")))
        self.assertEqual([o.status for o in outcomes], ["FAILED", "skipped", "ok", "FAILED"])
        self.assertEqual(outcomes[0].figure, "RuntimeError: made up")
        self.assertIn("fails", outcomes[0].data["traceback"])
        self.assertEqual(self.written, [1, 2, 3, 4])
        self.assertEqual(stages.table(outcomes).splitlines()[1], "b  skipped     10 s  no tool")
        self.assertEqual(stages.table(outcomes).splitlines()[3:], ["d  FAILED      10 s  wrong for two reasons"])

    def test_time_runs_out(self):
        given = []

        def notes(seconds):
            given.append(seconds)
            return stages.Result("ok", "")

        outcomes = self.run_all(38, self.stage("a", notes), self.stage("b", notes, share=0.5),
                                self.stage("c", notes), self.stage("d", notes, least=10))
        self.assertEqual(given, [20, 14, 18])
        self.assertEqual((outcomes[3].status, outcomes[3].figure), ("skipped", "8 s were left"))

    def test_time_that_no_later_stage_needs_is_not_kept(self):
        budget, later = stages.Budget(100, lambda: self.time), stages.Stage("b", "", None, 30)
        self.assertEqual(budget.of(stages.Stage("a", "", None, 20), [later]), 70)
        self.assertEqual(budget.of(stages.Stage("a", "", None, 20, 0.5), [later]), 50)
        self.assertEqual(budget.of(stages.Stage("a", "", None, 20), [later] * 4), 20)

    def test_partial_is_neither_failed_nor_whole(self):
        self.assertEqual(stages.verdict([], ["done"], []), "ok")
        self.assertEqual(stages.verdict([], ["done"], ["left"]), "partial")
        self.assertEqual(stages.verdict(["failed"], ["done"], ["left"]), "FAILED")
        self.assertEqual(stages.verdict([], [], ["left"]), "skipped")
        self.assertEqual(stages.verdict([], [], []), "FAILED")  # nothing was there to be done


class Processes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.log = pathlib.Path(self.folder.name) / "log" / "it"

    def tearDown(self):
        self.folder.cleanup()

    def test_what_it_said_and_how_it_ended(self):
        done = processes.run(["sh", "-c", "echo out; echo first >&2; echo last >&2; exit 3"], 60, self.log)
        self.assertEqual((done.output, done.code, done.well), ("out\n", 3, False))
        self.assertEqual(done.complaint(), "exit code 3: last")

    def test_of_several_lines_the_first_that_names_an_error(self):
        text = "warning: small\nstrata: error: moved 7 bytes\n  and more\n"
        self.assertEqual(processes.Done([], 1, "{", text, 1.0).complaint(),
                         "exit code 1: strata: error: moved 7 bytes")
        self.assertIsNone(processes.Done([], 1, "{", text, 1.0).document())

    def test_what_does_not_end_is_ended_with_its_children(self):
        with unittest.mock.patch.object(processes, "ASKED", ((signal.SIGINT, 0.1),)):
            done = processes.run(["sh", "-c", "echo begun; (kill -STOP $$) & wait"], 0.3, self.log)
        self.assertTrue(done.cut_short)
        self.assertEqual(done.output, "begun\n")

    def test_what_it_started_ends_with_it(self):
        pipe, end = os.pipe()
        with os.fdopen(pipe) as lines:
            os.set_inheritable(end, True)
            command = ["sh", "-c", f"sleep 600 >&{end} & echo begun"]
            with unittest.mock.patch.object(processes, "begin", lambda command, **options:
                                            subprocess.Popen(command, start_new_session=True,
                                                             pass_fds=[end], **options)):
                done = processes.run(command, 60, self.log)
            os.close(end)
            self.assertTrue(done.well)
            self.assertEqual(lines.read(), "")  # once nobody holds its other end

    def test_one_that_says_nothing_for_too_long_hangs_and_one_that_talks_does_not(self):
        done = processes.run(["sh", "-c", "echo begun; sleep 60"], 60, self.log, silence=0.2)
        self.assertTrue(done.hung and not done.cut_short and not done.well)
        self.assertEqual(done.complaint(), "said nothing for 0 s")
        talks = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.1; done"]
        self.assertTrue(processes.run(talks, 60, self.log, silence=1).well)
        aside = ["sh", "-c", f"({talks[2]}) >&2"]
        self.assertTrue(processes.run(aside, 60, self.log, silence=1).well)
        self.assertTrue(processes.run(talks, 0.2, self.log, silence=1).cut_short)

    def test_one_may_have_a_core_to_itself(self):
        before = os.sched_getaffinity(0)
        done = processes.run([sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], 60,
                             self.log, core=len(before) + 1)
        self.assertEqual(done.output, f"{{{(sorted(before) * 2)[1]}}}\n")
        self.assertEqual(os.sched_getaffinity(0), before)


class Reports(unittest.TestCase):
    def test_a_section_that_cannot_be_shown_costs_nothing_else(self):
        broken = stages.Outcome("pytorch", "ok", "figure", 1, {"rows": 3})
        self.assertIn("not shown", report.section(broken))

    def test_minus_signs_and_tables(self):
        self.assertEqual(report.percent(-0.051), "\N{MINUS SIGN}5.1 %")
        self.assertEqual(report.table(["a"], [(1,)]), "| a |\n|---|\n| 1 |\n")


CMAKE = """\
#!/bin/sh
echo "$@" >> {folder}/asked
[ "$1" = --build ] || exit 0
mkdir -p "$2/bin"
for name in {names}; do printf '#!/bin/sh\\n' > "$2/bin/$name"; chmod +x "$2/bin/$name"; done
"""


class Saving(unittest.TestCase):
    """A folder in which the disk is full of what is packed."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.work, self.out = self.folder / "work", self.folder / "out"
        self.out.mkdir()
        for name in ("profiles", "traces", "log"):
            (self.work / name).mkdir(parents=True)
            (self.work / name / "file").write_text("made up")

    def full_for(self, name, seen):
        def begin(path, *options, **more):
            seen.append((path.name, (self.out / "report.json").exists()))
            if path.name.startswith(name):
                path.write_text("a part of it")
                raise OSError(errno.ENOSPC, "No space left on device")
            return tarfile_open(path, *options, **more)
        tarfile_open = tarfile.open
        return unittest.mock.patch.object(tarfile, "open", begin)

    def test_the_report_is_there_before_anything_is_packed_and_a_full_disk_costs_one_archive(self):
        (self.out / "traces.tar.xz").write_text("of the stages before")
        run = unittest.mock.Mock(work=self.work)
        run.plan.stand_in, run.keep.side_effect = True, OSError(errno.ENOSPC, "No space left on device")
        seen, said = [], io.StringIO()
        with self.full_for("traces", seen), contextlib.redirect_stderr(said):
            command.save(run, self.out, [stages.Outcome("validate", "ok", "", 1.0, {})])
        self.assertEqual(seen, [(f"{name}.tar.xz.part", True) for name in ("profiles", "traces", "log")])
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["log.tar.xz", "profiles.tar.xz", "report.json", "report.md", "traces.tar.xz"])
        self.assertEqual((self.out / "traces.tar.xz").read_text(), "of the stages before")
        self.assertEqual(said.getvalue(), "chosen engines: [Errno 28] No space left on device\n"
                                          "traces.tar.xz: [Errno 28] No space left on device\n")


class Programs(unittest.TestCase):
    def test_a_bundle_that_does_not_start_is_built_from_with_its_prefix(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bundle" / "bin").mkdir(parents=True)
            (folder / "tools").mkdir()
            cmake = folder / "tools" / "cmake"
            cmake.write_text(CMAKE.format(folder=folder, names=" ".join(programs.NAMES)))
            cmake.chmod(0o755)
            variables = {"PATH": f"{folder}/tools:{os.environ['PATH']}"}
            with unittest.mock.patch.dict(os.environ, variables):
                found = programs.find(folder, folder / "bundle", folder, 60, dict(os.environ))
            self.assertEqual((found.origin, found.missing()), ("built on this machine", []))
            asked = (folder / "asked").read_text()
            self.assertIn(f"-DCMAKE_PREFIX_PATH={folder}/bundle/prefix/usr", asked)
            self.assertIn("--target strata gpu_tests", asked)

    def test_what_cannot_be_built_says_why_nothing_else_did(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bundle" / "bin").mkdir(parents=True)
            with unittest.mock.patch.dict(os.environ, {"PATH": name}):
                with self.assertRaisesRegex(RuntimeError, "no strata, .*; no cmake to build with"):
                    programs.find(folder, folder / "bundle", folder, 60, dict(os.environ))

    def test_those_that_do_not_start_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "bin").mkdir()
            (folder / "log").mkdir()
            carried = programs.Programs(folder / "bin", "made up")
            self.assertIn("no strata, exec_cuda", programs.complaint(carried, folder, None))
            for name in programs.NAMES:
                (folder / "bin" / name).write_text("#!/bin/sh\necho 'too old' >&2\nexit 1\n")
                (folder / "bin" / name).chmod(0o755)
            self.assertTrue(programs.complaint(carried, folder, None).endswith("exit code 1: too old"))


if __name__ == "__main__":
    unittest.main()
