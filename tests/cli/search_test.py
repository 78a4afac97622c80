"""What `strata solve`, `explain`, `map` and `diff` promise: the keys of their JSON, strategies that mean the
same to every command, limits that hold, and a search that can be interrupted."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import tempfile
import unittest

import cases
from json_test import DIMS, NUMBER, misfits, predict, said

CONFIG = {dim: int for dim in DIMS}
TIMES = {"eq1_seconds": NUMBER, "step_seconds": NUMBER, "comm_bytes": int}
STRATEGY = {"strategy": str, "model": str, "cluster": str,
            "layers": [{"name": str, "config": CONFIG}]}
SOLVED = {
    "devices": int, "batch": int, "eq1_seconds": NUMBER, "step_seconds": NUMBER,
    "comm_bytes": int, "peak_memory_bytes": int, "lower_bound_seconds": NUMBER,
    "table_seconds": NUMBER, "solve_seconds": NUMBER, "final_nodes": int, "max_configs": int,
    "variables": int, "log10_strategies": NUMBER, "strategy": STRATEGY,
    "baselines": {"data": TIMES, "model": TIMES, "owt": TIMES},
    "best": [{**TIMES, "strategy": STRATEGY}],
}
EXPOSED = {"kind": str, "layer": str, "lasts_seconds": NUMBER, "exposed_seconds": NUMBER}
TURN = {"key": str, "value": str, "step_seconds": NUMBER, "other_step_seconds": NUMBER}
STORY = {
    "strategy": str, "step_seconds": NUMBER, "eq1_seconds": NUMBER, "lower_bound_seconds": NUMBER,
    "critical_path": {"compute_seconds": NUMBER, "idle_seconds": NUMBER},
    "lasts_seconds": NUMBER, "exposed_seconds": NUMBER, "communication": [EXPOSED],
    "busiest_device": {"name": str, "share": NUMBER},
    "busiest_link": {"name": str, "share": NUMBER}, "peak_memory_bytes": int,
    "rivals": [{"strategy": str, "step_seconds": NUMBER, "eq1_seconds": NUMBER,
                "exposed_seconds": NUMBER, "turns": [TURN]}],
    "story": [str],
}
EXPLAINED = {
    "layer": str, "layers": [str], "step_seconds": NUMBER, "optimum_seconds": NUMBER,
    "config": CONFIG, "communication": [EXPOSED], "best_other": int, "turns": [TURN],
    "configs": [{"config": CONFIG, "step_seconds": NUMBER, "devices": [str], "compute_seconds": NUMBER,
                 "transfer_in_seconds": NUMBER, "transfer_out_seconds": NUMBER,
                 "sync_seconds": NUMBER, "regret_seconds": NUMBER, "binding_seconds": NUMBER}],
}
AXIS = {"key": str, "values": [str]}
MAP = {
    "x": AXIS, "y": AXIS, "strategies": [str],
    "cells": [{"x": str, "y": str, "devices": int, "batch": int, "winner": str, "margin": NUMBER,
               "strategies": [{"strategy": str, "step_seconds": NUMBER,
                               "peak_memory_bytes": int}]}],
    "crossovers": [{"along": str, "at": str, "after": str, "before": str, "about": (str, type(None)),
                    "from": str, "to": str}],
}
SIDE = {"config": CONFIG, "compute_seconds": NUMBER, "transfer_seconds": NUMBER,
        "sync_seconds": NUMBER}
DIFFERENCE = {
    "before": {**TIMES, "strategy": str}, "after": {**TIMES, "strategy": str},
    "changed_layers": int,
    "layers": [{"name": str, "before": SIDE, "after": SIDE, "difference_seconds": NUMBER}],
}
MEASURED = ("table_seconds", "solve_seconds", "refine_seconds")


def solve(model, cluster, options="", folder="."):
    return said(f"strata solve {model} --cluster {cluster} {options} --json", folder)


def solve_eq1(model, cluster, options="", folder="."):
    return solve(model, cluster, f"--objective eq1 {options}", folder)


class Search(unittest.TestCase):
    maxDiff = None

    def assert_shape(self, document, shape):
        self.assertEqual(misfits(document, shape), [])

    def test_solve(self):
        for model in ("lenet5", "alexnet", "resnet18"):
            for sync in ("ps", "ring", "auto"):
                with self.subTest(model, sync=sync):
                    s = solve_eq1(model, "p100-2x2", f"--sync {sync}")
                    self.assert_shape(s, SOLVED)
                    self.assertIs(s["optimal"], True)
                    self.assertEqual(s["lower_bound_seconds"], s["eq1_seconds"])
                    self.assertEqual((s["devices"], s["batch"], s["final_nodes"]), (4, 128, 2))
                    for usual in s["baselines"].values():
                        self.assertLessEqual(s["eq1_seconds"], usual["eq1_seconds"])

    def test_the_strategy_means_the_same_to_predict(self):
        for options in ("", "--sync ps", "--placement hosts", "--degrees all --free-elementwise",
                        "--dtype fp16 --batch 48"):
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                s = solve("alexnet", "p100-2x2", f"{options} -o best.json", folder)
                written = json.loads((pathlib.Path(folder) / "best.json").read_text())
                self.assertEqual(written, s["strategy"])
                case = " ".join(f"--{o}" for o in options.split("--")
                                if o.strip() and o.split()[0] in ("sync", "dtype", "batch"))
                p = predict("alexnet", "p100-2x2", f"--strategy best.json {case}", folder)
                for key in ("eq1_seconds", "step_seconds", "comm_bytes", "peak_memory_bytes"):
                    self.assertEqual(p[key], s[key], key)

    def test_micro_batches_are_the_same_to_every_command(self):
        llama = "llama:layers=4,hidden=64,heads=4,seq=32,vocab=64"
        for model, options in (("lenet5", "--batch 64 --micro-batch 2"),
                               ("alexnet", "--batch 16 --micro-batch 1 --recompute full"),
                               (llama, "--batch 32 --micro-batch 1"),
                               (llama, "--batch 24 --micro-batch 3 --objective eq1")):
            with self.subTest(model + " " + options), tempfile.TemporaryDirectory() as folder:
                s = solve(model, "p100-1x4", f"{options} -o best.json", folder)
                case = options.removesuffix("--recompute full").removesuffix("--objective eq1")
                p = predict(model, "p100-1x4", f"--strategy best.json {case}", folder)
                for key in ("batch", "eq1_seconds", "step_seconds", "comm_bytes",
                            "peak_memory_bytes", "throughput"):
                    self.assertEqual(p[key], s[key], key)
                if "alexnet" in model or "eq1" in options:
                    continue
                for name, baseline in s["baselines"].items():
                    p = predict(model, "p100-1x4", f"--strategy {name} {options}", folder)
                    self.assertEqual(p["step_seconds"], baseline["step_seconds"], name)
                story = said(f"strata explain {model} --cluster p100-1x4 --strategy best.json "
                             f"{options} --json", folder)
                self.assertAlmostEqual(story["step_seconds"] / s["step_seconds"], 1, delta=1e-9)
                self.assertLessEqual(story["lower_bound_seconds"], s["step_seconds"] * (1 + 1e-9))
                layers = [layer["name"] for layer in s["strategy"]["layers"]]
                e = said(f"strata explain {model} --cluster p100-1x4 --strategy data {options} "
                         f"--layer {layers[1]} --json", folder)
                self.assertEqual(e["step_seconds"], s["baselines"]["data"]["step_seconds"])
                d = said(f"strata diff data best.json --model {model} --cluster p100-1x4 {options} "
                         "--json", folder)
                self.assertEqual(d["after"]["step_seconds"], s["step_seconds"])

    def test_where_nothing_fits_layers_are_computed_again(self):
        model = "llama:layers=8,hidden=64,heads=4,seq=256,vocab=64"
        with tempfile.TemporaryDirectory() as folder:
            free = solve(model, "p100-1x2", "--batch 16 --objective simulated", folder)
            lean = predict(model, "p100-1x2", "--batch 16 --strategy hybrid:tp=2,sp=1 "
                           "--recompute full", folder)
            limit = lean["peak_memory_bytes"]
            self.assertLess(limit, free["peak_memory_bytes"])
            s = solve(model, "p100-1x2",
                      f"--batch 16 --memory-limit {limit} -o best.json", folder)
            self.assertEqual((s["in_space"], s["optimal"]), (False, False))
            self.assertLessEqual(s["peak_memory_bytes"], limit)
            self.assertTrue(any("recompute" in layer for layer in s["strategy"]["layers"]))
            p = predict(model, "p100-1x2", "--batch 16 --strategy best.json", folder)
            for key in ("step_seconds", "peak_memory_bytes"):
                self.assertEqual(p[key], s[key], key)

    def test_without_simulation_it_finds_the_same(self):
        s = solve("lenet5", "p100-1x4", "--no-simulation")
        simulated = solve_eq1("lenet5", "p100-1x4")
        self.assertEqual(s["strategy"], simulated["strategy"])
        self.assertEqual((s["memory_checked"], simulated["memory_checked"]), (False, True))
        text = cases.run("strata solve lenet5 --cluster p100-1x4 --no-simulation", ".").stdout.decode()
        self.assertIn("Memory was not checked: eq1 was not simulated", text)
        for scored in (s, *s["baselines"].values()):
            self.assertGreater(scored["eq1_seconds"], 0)
            for key in ("step_seconds", "comm_bytes", "peak_memory_bytes"):
                self.assertIsNone(scored[key], key)

    def test_what_is_searched_for_has_names(self):
        three = predict("lenet5", "p100-1x4", "--strategy data,eq1,optimal")
        self.assertEqual([p["strategy"] for p in three], ["data", "eq1", "optimal"])
        self.assertEqual(three[1]["eq1_seconds"], solve_eq1("lenet5", "p100-1x4")["eq1_seconds"])
        self.assertEqual(three[2]["step_seconds"], solve("lenet5", "p100-1x4")["step_seconds"])
        self.assertEqual(three[2]["step_seconds"], min(p["step_seconds"] for p in three))

    def test_a_larger_space_is_never_worse(self):
        """AlexNet's fully-connected layers are faster cut in r, on any cluster of hosts."""
        none, fc, every = (solve_eq1("alexnet", "p100-2x4", f"--reductions {layers}")
                           for layers in ("none", "fc", "all"))
        self.assertLess(fc["eq1_seconds"], none["eq1_seconds"])
        self.assertLessEqual(every["eq1_seconds"], fc["eq1_seconds"])
        self.assertEqual(fc["eq1_seconds"], solve_eq1("alexnet", "p100-2x4")["eq1_seconds"])

    def test_the_answer_does_not_depend_on_the_threads_or_the_algorithm(self):
        def answer(options):
            s = solve("lenet5", "p100-1x2", options)
            return {key: value for key, value in s.items() if key not in MEASURED and key != "settings"}
        one = answer("--threads 1")
        self.assertEqual(answer("--threads 4"), one)
        one = answer("--threads 1 --objective eq1")
        self.assertEqual(answer("--threads 4 --objective eq1"), one)
        dfs = answer("--algorithm dfs")
        self.assertEqual((dfs["eq1_seconds"], dfs["optimal"]), (one["eq1_seconds"], True))

    def test_simulated_is_never_worse(self):
        eq1 = solve_eq1("alexnet", "p100-2x2", "--sync ps")
        s = solve("alexnet", "p100-2x2", "--sync ps --evaluations 50")
        self.assertEqual(s["objective"], "simulated")
        self.assert_shape(s, SOLVED)
        self.assertIs(s["optimal"], False)
        self.assertLessEqual(s["step_seconds"], eq1["step_seconds"])
        for usual in s["baselines"].values():
            self.assertLessEqual(s["step_seconds"], usual["step_seconds"])

    def test_a_search_ends_once_its_gap_is_proved(self):
        s = solve("vgg16", "p100-1x4", "--gap 0.1")
        self.assertLessEqual(s["gap"], 0.1)
        self.assertLess(s["evaluations"], 40)
        self.assertIs(s["stopped"], False)

    def test_kept_layers_stay_and_cost_their_regret(self):
        e = said("strata explain lenet5 --cluster p100-1x4 --strategy data --layer fc1 --json")
        regret = next(c["regret_seconds"] for c in e["configs"] if c["chosen"])
        s = solve_eq1("lenet5", "p100-1x4", "--keep fc1,conv2 --strategy data")
        self.assertEqual((s["kept"], s["optimal"]), (["fc1", "conv2"], True))
        cuts = {layer["name"]: layer["config"]["n"] for layer in s["strategy"]["layers"]}
        self.assertEqual((cuts["fc1"], cuts["tanh3"], cuts["conv2"]), (4, 4, 4))
        s = solve_eq1("lenet5", "p100-1x4", "--keep fc1 --strategy data")
        self.assertAlmostEqual(s["eq1_seconds"] - e["optimum_seconds"], regret, delta=1e-12)

    def test_a_kept_cut_need_not_be_one_that_is_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            text = json.dumps({"strategy": "odd", "default": {},
                               "layers": [{"name": "conv1", "config": {"c": 3}}]})
            (pathlib.Path(folder) / "odd.json").write_text(text)
            s = solve_eq1("lenet5", "p100-1x4", "--keep conv1 --strategy odd.json", folder)
            cuts = {layer["name"]: layer["config"]["c"] for layer in s["strategy"]["layers"]}
            self.assertEqual((cuts["conv1"], s["optimal"]), (3, True))

    def test_k_best(self):
        for objective, key in (("eq1", "eq1_seconds"), ("simulated", "step_seconds")):
            best = solve("lenet5", "p100-1x4", f"--k-best 6 --objective {objective}")["best"]
            times = [entry[key] for entry in best]
            self.assertEqual((len(times), times), (6, sorted(times)))
            layers = [json.dumps(entry["strategy"]["layers"]) for entry in best]
            self.assertEqual(len(set(layers)), 6)

    def test_a_memory_limit_is_kept_or_impossible(self):
        for objective, key in (("eq1", "eq1_seconds"), ("simulated", "step_seconds")):
            free = solve("alexnet", "p100-1x4", f"--objective {objective}")
            limit = free["peak_memory_bytes"]
            within = solve("alexnet", "p100-1x4", f"--objective {objective} --memory-limit {limit}")
            self.assertEqual(within[key], free[key])
        with tempfile.TemporaryDirectory() as folder:
            none = cases.run("strata solve alexnet --cluster p100-1x4 --memory-limit 1MB "
                             "-o best.json --json", folder)
            self.assertEqual(cases.tree(pathlib.Path(folder)), {})
        self.assertEqual((none.exit_code, none.stdout), (1, b""))
        self.assertIn("no strategy within --memory-limit 1000000 (1.00 MB), proved:", none.stderr)
        self.assertRegex(none.stderr, "the nearest of those that were tried is .*, which needs")

    def test_explain(self):
        for strategy in ("eq1", "owt", "data"):
            with self.subTest(strategy):
                e = said("strata explain lenet5 --cluster p100-1x4 --layer conv2 "
                         f"--strategy {strategy} --json")
                self.assert_shape(e, EXPLAINED)
                self.assertEqual(e["layers"], ["conv2", "tanh2"])
                regrets = [config["regret_seconds"] for config in e["configs"]]
                self.assertEqual(min(regrets), 0)
                chosen = [c for c in e["configs"] if c["chosen"]]
                self.assertEqual([c["config"] for c in chosen], [e["config"]])
        optimum = solve_eq1("lenet5", "p100-1x4")["eq1_seconds"]
        self.assertAlmostEqual(e["optimum_seconds"] / optimum, 1, delta=1e-12)

    def test_the_story_of_a_strategy_can_be_repeated(self):
        case = "alexnet --cluster p100-2x4 --sync ps"
        story = said(f"strata explain {case} --strategy owt --json")
        self.assert_shape(story, STORY)
        self.assertIs(story["fits"], True)
        told = {rival["strategy"]: rival for rival in story["rivals"]}
        self.assertEqual(set(told), {"data", "model", "eq1"})
        self.assertTrue(told["data"]["turns"])
        for turn in told["data"]["turns"]:
            option = (f"--batch {turn['value']}" if turn["key"] == "batch"
                      else f"--set '{turn['key']}={turn['value']}'")
            for strategy, key in (("owt", "step_seconds"), ("data", "other_step_seconds")):
                p = said(f"strata predict {case} --strategy {strategy} {option} --json")
                self.assertEqual(p["step_seconds"], turn[key], option)
            self.assertLess(turn["other_step_seconds"], turn["step_seconds"])

    def test_what_is_explained_by_default_is_the_fastest(self):
        story = said("strata explain lenet5 --cluster p100-1x4 --json")
        found = solve("lenet5", "p100-1x4")
        self.assertEqual(story["strategy"], "optimal")
        self.assertEqual(story["step_seconds"], found["step_seconds"])
        self.assertEqual(story["lower_bound_seconds"], found["lower_bound_seconds"])

    def test_a_map_is_of_cases_that_can_be_repeated(self):
        case = "alexnet --cluster p100-2x2"
        with tempfile.TemporaryDirectory() as folder:
            m = said(f"strata map {case} --x link.inter.bandwidth=0.25x,4x --y hosts=1,2 "
                     "--strategy data,owt,eq1 --csv map.csv --json", folder)
            csv = (pathlib.Path(folder) / "map.csv").read_text().split()
        self.assert_shape(m, MAP)
        self.assertEqual([(c["x"], c["y"]) for c in m["cells"]],
                         [("0.25x", "1"), ("4x", "1"), ("0.25x", "2"), ("4x", "2")])
        self.assertEqual(len(csv), 1 + 4 * 3)
        for cell in m["cells"]:
            steps = {s["strategy"]: s["step_seconds"] for s in cell["strategies"]}
            self.assertLessEqual(steps[cell["winner"]], 1.005 * min(steps.values()))
            for strategy, step in steps.items():
                links = f"--set link.inter.bandwidth={cell['x']}" if cell["y"] == "2" else ""
                p = said(f"strata predict alexnet --cluster p100-{cell['y']}x2 "
                         f"--strategy {strategy} {links} --json")
                self.assertEqual(p["step_seconds"], step)
        for turn in m["crossovers"]:
            self.assertNotEqual(turn["from"], turn["to"])

    def test_the_other_axis_of_a_map_is_another_number(self):
        for given, other in (("--x batch_per_device=16", "y"), ("--y link.intra.bandwidth=1x", "x")):
            m = said(f"strata map lenet5 --cluster p100-1x2 {given} --strategy data --json")
            self.assertNotEqual(m["x"]["key"], m["y"]["key"])
            self.assertGreater(len(m[other]["values"]), 1)

    def test_a_map_lists_a_strategy_that_fits_no_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "pair.json").write_text(
                '{"strategy": "pair", "model": "lenet5", "default": {"n": 2}, "layers": []}')
            command = "strata map lenet5 --cluster p100-1x1 --x batch_per_device=16 --y hosts=1"
            outcome = cases.run(f"{command} --strategy data,pair.json", folder)
        self.assertEqual(outcome.exit_code, 0)
        self.assertIn("Without a step in any cell:\n  pair.json: ", outcome.stdout.decode())

    def test_diff(self):
        with tempfile.TemporaryDirectory() as folder:
            s = solve("alexnet", "p100-1x4", "-o best.json", folder)
            d = said("strata diff data best.json --json", folder)
        self.assert_shape(d, DIFFERENCE)
        self.assertEqual(d["after"]["eq1_seconds"], s["eq1_seconds"])
        self.assertEqual(d["before"]["eq1_seconds"], s["baselines"]["data"]["eq1_seconds"])
        change = sum(layer["difference_seconds"] for layer in d["layers"])
        self.assertAlmostEqual(change, d["after"]["eq1_seconds"] - d["before"]["eq1_seconds"],
                               delta=1e-9)
        same = said("strata diff owt owt --model alexnet --cluster p100-1x4 --json")
        self.assertEqual((same["changed_layers"], same["layers"]), (0, []))


class Interrupt(unittest.TestCase):
    """A search of years on a terminal: it says how far it is, and stops when asked."""

    def run_until_progress(self, folder):
        try:
            terminal, end = pty.openpty()
        except OSError as error:
            self.skipTest(f"this machine gives no pseudo-terminal: {error}")
        search = subprocess.Popen(
            [cases.program(), "solve", "vgg16", "--cluster", "p100-1x4", "--algorithm", "dfs",
             "--json", "-o", "best.json"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        said_so_far = b""
        while b"best" not in said_so_far:
            said_so_far += os.read(terminal, 4096)
        return search, terminal, said_so_far

    def test_it_says_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            search, terminal, progress = self.run_until_progress(folder)
            self.assertRegex(progress.decode(), r"depth-first search, best [0-9.]+ ms")
            search.send_signal(signal.SIGINT)
            output = search.stdout.read()
            search.stdout.close()
            self.assertEqual(search.wait(), 1)
            said = b""
            while b"interrupted" not in said:  # what was never said ends as an error of reading
                said += os.read(terminal, 1 << 16)
            os.close(terminal)
            self.assertEqual(cases.tree(pathlib.Path(folder)), {}, "nothing is written")
        found = json.loads(output)
        # What was called off is not simulated any more.
        unknown = ("step_seconds is None", "comm_bytes is None", "peak_memory_bytes is None")
        self.assertEqual([m for m in misfits(found, SOLVED) if not m.endswith(unknown)], [])
        self.assertEqual((found["optimal"], found["stopped"]), (False, True))
        self.assertLess(found["lower_bound_seconds"], found["eq1_seconds"])

    def test_a_time_limit_under_simulation_is_no_failure(self):
        for limit in ("0", "0.0001", "0.01"):
            s = solve("vgg16", "p100-2x4", f"--time-limit {limit}")
            self.assertEqual((s["optimal"], s["stopped"]), (False, True))
            if s["evaluations"] > 0:
                self.assertLessEqual(s["lower_bound_seconds"], s["step_seconds"])

    def test_a_time_limit_is_no_failure(self):
        s = solve("vgg16", "p100-1x4", "--algorithm dfs --time-limit 0.1")
        self.assertEqual((s["optimal"], s["stopped"]), (False, True))
        self.assertLessEqual(s["lower_bound_seconds"], s["eq1_seconds"])
        self.assertLessEqual(s["eq1_seconds"], s["baselines"]["data"]["eq1_seconds"])


if __name__ == "__main__":
    unittest.main()
