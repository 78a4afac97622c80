"""scripts/gpu-check from end to end, on programs that the test makes up: they say what a test wants
them to say. No figure here was measured."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts" / "gpu-check"

STRATA = """\
#!{python} -IS
import json, os, pathlib, sys, time
command, arguments = sys.argv[1], sys.argv[2:]
with open({asked!r}, "a") as asked:
    print(*sys.argv[1:], file=asked)
def after(option, default=None):
    return arguments[arguments.index(option) + 1] if option in arguments else default
if command == "--version":
    print("strata 0 (made up), cuda ({gpu}), mpi")
elif command == "show":
    print(json.dumps({{"layers": [{{"name": "data", "inputs": [], "macs": 0}},
                                 {{"name": "a", "inputs": ["data"], "macs": 100}},
                                 {{"name": "b", "inputs": ["a"], "macs": 1000}}]}}))
elif command == "run":
    known = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "strata" / "cudnn-plans.tsv"
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text((known.read_text() if known.exists() else "") + "made up\\tengine\\n")
    print(json.dumps({{"step_seconds": {{"median": 0.25}}, "losses": [2.5, 2.25], "machine": "made up"}}))
elif command == "profile":
    pathlib.Path(after("-o")).write_text("made up")
    print(json.dumps({{"measured_costs": 3, "measured_moves": 1, "measure_seconds": 0.5,
                      "profile": after("-o")}}))
elif command == "validate":
    interrupted = False
    if {waits!r}:
        pathlib.Path({waits!r}).touch()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            interrupted = True
    pathlib.Path(after("--trace")).write_text("{{}}")
    print(json.dumps({{"largest_error": {{"strategy": "owt", "rows": [
        {{"layer": "fc", "task": "forward", "predicted_seconds": 1, "measured_seconds": 2,
          "share": 0.9, "tasks": 1}}]}}, "cases": [
        {{"model": arguments[0], "batch": int(after("--batch")), "strategy": strategy,
          "devices": 2, "predicted_seconds": 0.5 * (1 + i), "measured_seconds": {measured} * (1 + i),
          "eq1_seconds": 0.5, "spread_seconds": 0.01,
          "relative_error": 0.5 / {measured} - 1}}
        for i, strategy in enumerate(after("--strategies").split(","))]}}))
    sys.exit(1 if interrupted else {validate_code})
else:
    sys.exit(2)
"""

TESTS = """\
#!/bin/sh
case "$*" in
  *--gtest_list_tests*) printf 'Suite.\\n  Case\\n' ;;
  *) echo '[ RUN      ] Suite.Case'
     echo 'agreement {"suite": "Suite", "case": "Case", "precision": "fp32", "error": 2e-6, "tolerance": 1e-05}'
     echo '[       OK ] Suite.Case (1 ms)' ;;
esac
"""

PYTORCH = """\
#!{python} -IS
import json, sys
print(json.dumps({{"torch": "made up"}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "load" and request["compile"] and not {compiles}:
        reply = {{"error": "RuntimeError: no compiler"}}
    else:
        reply = {{"ceilings": {{"fp32_flops_per_second": 1e6, "copy_bytes_per_second": 1e6}},
                 "load": {{"load_seconds": 1}}, "steps": {{"step_seconds": [0.5]}}}}[request["do"]]
    print(json.dumps(reply), flush=True)
"""


NETWORKS = TESTS.replace('"suite": "Suite", "case": "Case", "precision": "fp32", "error": 2e-6, "tolerance": 1e-05',
                         '"network": "lenet5", "strategy": "data", "devices": "cuda:0/2", '
                         '"precision": "bf16", "launch": "plain", "loss": 1e-3, "gradients": inf, '
                         '"weights": 1e-3, "worst_gradients": "fc", "tolerance": 1e-2, '
                         '"gradient_tolerance": 0.3')


ALL = "smoke,kernels,kernels-shared,networks,again,sanitizer,profile,validate,pytorch"


class Run(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.out = self.folder / "out"
        self.make(measured=0.5)

    def write(self, name, text):
        path = self.folder / "bundle" / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def make(self, measured, validate_code=0, compiles=True, waits="",
             gpu="made up"):
        self.write("strata", STRATA.format(python=sys.executable, asked=str(self.folder / "bundle" / "asked"), measured=measured,
                                           validate_code=validate_code, waits=waits, gpu=gpu))
        self.write("exec_cuda_gpu_test", TESTS)
        self.write("exec_cuda_gpu_networks_test", NETWORKS)
        self.write("exec_cuda_gpu_overheads", "#!/bin/sh\nexit 3\n")
        self.write("python", PYTORCH.format(python=sys.executable, compiles=compiles))

    def check(self, *options, **variables):
        return subprocess.run(
            [sys.executable, SCRIPT, *options], text=True, capture_output=True,
            env=dict(os.environ, **variables))

    def stand_in_options(self):
        return ["--devices", "cpu:2", "--bundle", self.folder / "bundle",
                "--python", self.folder / "bundle" / "bin" / "python"]

    def stand_in(self, *options):
        return self.check(self.out, *self.stand_in_options(), *options)

    def stages(self):
        document = json.loads((self.out / "report.json").read_text())
        self.assertTrue(document["stand_in"])
        return {stage["name"]: stage for stage in document["stages"]}

    def test_all_stages_and_a_table_last(self):
        done = self.stand_in("--stages", ALL)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split()[:2] for line in lines], [
            ["environment", "ok"], ["smoke", "ok"], ["kernels", "ok"], ["kernels-shared", "skipped"],
            ["networks", "ok"], ["again", "skipped"], ["sanitizer", "skipped"], ["profile", "ok"],
            ["validate", "ok"], ["pytorch", "ok"]])
        stages = self.stages()
        self.assertEqual(stages["kernels"]["data"]["passed"], 1)
        self.assertEqual(len(stages["validate"]["data"]["cases"]), 1 + 4)
        row = stages["pytorch"]["data"]["rows"][0]
        self.assertEqual(row["eager"]["ratio"], 0.5)
        self.assertEqual(row["product_seconds"], 2 * (2 * 100 + 3 * 1000) * 8 / 1e6)
        text = (self.out / "report.md").read_text()
        self.assertIn("no figure here is a GPU's", text)
        self.assertNotIn("not shown", text)
        self.assertIn("| lenet5 | data | cuda:0/2 | bf16 | plain | 1.0e-03 | 1.0e-03 | 0.01 | inf |", text)
        self.assertIn("| lenet5-8-fp32-cpu2 | owt | fc | forward | 1000.000 ms |", text)

    def test_what_it_leaves_behind(self):
        self.stand_in("--stages", "profile,validate,pytorch")
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["choices-timed.tsv", "log.tar.xz", "profiles.tar.xz", "report.json", "report.md", "traces.tar.xz"])
        with tarfile.open(self.out / "profiles.tar.xz") as archive:
            self.assertIn("profiles/cpu-fp32.toml", archive.getnames())

    def test_an_archive_that_cannot_be_written_costs_neither_the_report_nor_the_other_archives(self):
        self.stand_in("--stages", "profile")
        before = (self.out / "profiles.tar.xz").read_bytes()
        (self.out / "log.tar.xz.part").mkdir()  # in the way, as a full disk would be
        done = self.stand_in("--stages", "smoke,profile,kernels")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.stages()), ["environment", "smoke", "kernels", "profile"])
        self.assertIn("log.tar.xz: ", done.stderr)
        self.assertNotEqual((self.out / "profiles.tar.xz").read_bytes(), before)

    def test_chosen_engines_come_back_and_are_taken_again(self):
        self.stand_in("--stages", "smoke")
        first = (self.out / "choices-timed.tsv").read_text()
        self.assertEqual(set(first.splitlines()), {"made up\tengine"})
        self.stand_in("--stages", "smoke")
        self.assertEqual((self.out / "choices-timed.tsv").read_text(), first * 2)
        earlier, self.out = self.out, self.folder / "another"
        self.stand_in("--stages", "smoke", "--choices", earlier)
        self.assertEqual((self.out / "choices-timed.tsv").read_text(), first * 3)

    def test_an_interrupted_check_keeps_what_it_has(self):
        begun = self.folder / "begun"
        self.make(measured=0.5, waits=str(begun))
        with subprocess.Popen([sys.executable, SCRIPT, self.out, *self.stand_in_options(), "--stages",
                               "profile,validate,pytorch"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as check:
            while not begun.exists():
                with self.assertRaises(subprocess.TimeoutExpired):
                    check.wait(0.02)
            check.send_signal(signal.SIGTERM)
            table, _ = check.communicate()
        self.assertEqual(check.returncode, 1)
        self.assertEqual([line.split()[:2] for line in table.splitlines()], [
            ["environment", "ok"], ["profile", "ok"], ["validate", "partial"], ["pytorch", "skipped"]])
        validated = self.stages()["validate"]["data"]
        self.assertEqual(len(validated["cases"]), 1)
        cut, rest = validated["left_out"]
        self.assertTrue(cut["why"].startswith("cut off after"))
        self.assertEqual(rest["why"], "interrupted")
        with tarfile.open(self.out / "profiles.tar.xz") as archive:
            self.assertIn("profiles/cpu-fp32.toml", archive.getnames())

    def test_predictions_that_are_off_fail_their_stage_alone(self):
        self.make(measured=1.0)
        done = self.stand_in("--stages", "validate,pytorch")
        self.assertEqual(done.returncode, 1)
        stages = self.stages()
        self.assertEqual(stages["validate"]["status"], "FAILED")
        self.assertIn("largest 50.0 %", stages["validate"]["figure"])
        self.assertEqual(stages["pytorch"]["status"], "ok")

    def test_failures_stand_in_the_table_beside_the_figures(self):
        self.make(measured=0.5, validate_code=1, compiles=False)
        done = self.stand_in("--stages", "validate,pytorch")
        self.assertEqual(done.returncode, 1)
        _, validate, compared = done.stdout.splitlines()
        self.assertRegex(validate, "^validate +FAILED .* 5 cases, .*, 2 failed, first lenet5-8-fp32-cpu1: "
                                   "exit code 1: said nothing$")
        self.assertRegex(compared, "^pytorch +FAILED .* eager: faster in 1 of 1, .*; 1 failed, first "
                                   "lenet5-8-fp32-cpu1 compile: PyTorch: RuntimeError: no compiler$")
        self.assertIn("* lenet5-8-fp32-cpu2: exit code 1", (self.out / "report.md").read_text())

    def test_programs_that_say_nothing_fail_their_stages(self):
        self.write("exec_cuda_gpu_test", "#!/bin/sh\necho 'it broke' >&2\nexit 5\n")
        done = self.stand_in("--stages", "kernels,networks")
        self.assertEqual(done.returncode, 1)
        stages = self.stages()
        self.assertEqual(stages["kernels"]["figure"], "RuntimeError: exit code 5: it broke")
        self.assertEqual(stages["networks"]["status"], "ok")

    def test_tests_that_find_no_gpu_are_skipped_with_their_reason(self):
        self.write("exec_cuda_gpu_test", "#!/bin/sh\n[ $1 = --gtest_list_tests ] && printf 'A.\\n  B\\n' || echo 'no GPU: made up'\n")
        self.stand_in("--stages", "kernels")
        kernels = self.stages()["kernels"]
        self.assertEqual((kernels["status"], kernels["figure"]), ("skipped", "no GPU: made up"))

    def test_what_time_does_not_hold_is_told(self):
        done = self.stand_in("--stages", "profile", "--seconds", "0")
        self.assertEqual(done.returncode, 0)
        self.assertEqual({stage["status"] for stage in self.stages().values()}, {"skipped"})

    def on_gpu(self, *options):
        return self.check(self.out, "--bundle", self.folder / "bundle", "--stages", "kernels", *options,
                          PATH=str(self.folder / "bundle" / "bin"))

    def test_without_a_gpu(self):
        self.make(measured=0.5, gpu="no GPU: this machine has no NVIDIA driver")
        done = self.on_gpu()
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "scripts/gpu-check: error: no GPU: this machine has no NVIDIA "
                                      "driver; nvidia-smi is not there\n")
        self.assertFalse(self.out.exists())

    def test_cuda_says_whether_there_is_a_gpu(self):
        done = self.on_gpu()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "environment +ok +. s  nvidia-smi is not there; programs: carried")
        self.write("nvidia-smi", "#!/bin/sh\necho 'No devices were found'\nexit 6\n")
        done = self.on_gpu()
        self.assertRegex(done.stdout, "environment +ok +. s  nvidia-smi: No devices were found; ")
        self.assertRegex(done.stdout, "\nkernels +ok ")

    def dry(self, *options):
        done = self.check("--dry-run", *options, PATH="")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_each_visit_takes_nine_minutes_at_most_on_a_machine_without_a_gpu(self):
        lines = self.dry()
        totals = [re.fullmatch(r"Visit (\d), on cuda:0, cuda:0/2, cuda:0/4: (\d+) s", line)
                  for line in lines if line.startswith("Visit")]
        self.assertEqual([int(total[1]) for total in totals], [1, 2, 3])
        begun = [re.match(r"  ([a-z-]+): up to (\d+) s, ", line) for line in lines]
        stages = [(each[1], int(each[2])) for each in begun if each]
        self.assertEqual(",".join(name for name, _ in stages if name != "environment"), ALL)
        self.assertEqual(sum(seconds for _, seconds in stages), sum(int(total[2]) for total in totals))
        self.assertLessEqual(max(int(total[2]) for total in totals), 9 * 60)

    def test_only_stages_that_time_something_time_engines(self):
        lines = [line for line in self.dry() if "bin/strata " in line and "--version" not in line]
        commands = {untimed: {line.split("bin/strata ")[1].split()[0] for line in lines
                              if ("STRATA_CUDA_ENGINES=first" in line) == untimed}
                    for untimed in (True, False)}
        self.assertEqual(commands, {True: {"run"}, False: {"profile", "validate", "run"}})
        timed_runs = [line for line in lines if " run " in line and "ENGINES=first" not in line]
        self.assertEqual([line for line in timed_runs if "lenet5" in line or "resnet18" in line], [])
        tests = [line for line in self.dry() if "--gtest_filter=TESTS" in line]
        self.assertEqual(len([line for line in tests if "STRATA_CUDA_ENGINES=first " in line]), 3)

    def test_what_a_dry_run_says_is_what_is_run(self):
        self.stand_in("--stages", "smoke,profile,validate")
        asked = (self.folder / "bundle" / "asked").read_text().splitlines()
        said = [line.split("bin/strata ")[1] for line in
                self.dry("--devices", "cpu:2", "--stages", "smoke,profile,validate") if "bin/strata" in line]
        self.assertEqual([re.sub(r"\S*/(profiles|traces)/", r"WORK/\1/", line) for line in asked
                          if line != "--version"], [line for line in said if line != "--version"])
        self.assertIn("run lenet5 --devices cpu:2 --strategy data --batch 8 --steps 8 --warmup 3 --json",
                      said)

    def test_programs_that_are_not_there_are_told_at_once(self):
        done = self.check(self.out, "--bundle", self.folder / "nothing.tar.xz")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing.tar.xz is not there; scripts/portable makes it", done.stderr)
        root = self.folder / "root"
        shutil.copytree(ROOT / "scripts", root / "scripts", ignore=lambda *_: ["__pycache__"])
        for words in ("programs are built first, which takes up to 240 s of the visit's",
                      "what was built in build/release is taken"):
            done = subprocess.run([sys.executable, root / "scripts" / "gpu-check", "--dry-run"],
                                  text=True, capture_output=True)
            self.assertEqual(done.stderr, "scripts/gpu-check: warning: build/portable/strata-portable.tar.xz "
                                          f"is not there (scripts/portable makes it); {words}\n")
            shutil.copytree(self.folder / "bundle" / "bin", root / "build" / "release" / "bin",
                            dirs_exist_ok=True)

    def test_bad_usage(self):
        for options in ([], ["x", "--stages", "nothing"], ["x", "--devices", "gpu"],
                        ["x", "--choices", "nowhere"]):
            self.assertEqual(self.check(*options).returncode, 2, options)


if __name__ == "__main__":
    unittest.main()
