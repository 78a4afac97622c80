"""strata export: files that other tools read, checked by readers of their own against what the
prediction says."""

import collections
import json
import math
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import cases
import chakra_wire
from chakra_wire import COLLECTIVE, COMPUTE, METADATA, RECEIVE, SEND

# Odd extents, unequal cuts, an edge of each kind; names that a careless writer would break on.
NET = r"""
name = "quo\"te & <co>"
[[layer]]
name = "data"
op = "input"
shape = [3, 9, 9]
[[layer]]
name = "conv \\N \"1\" &amp;"
op = "conv2d"
inputs = ["data"]
out_channels = 8
kernel = 3
padding = 1
[[layer]]
name = "fc"
op = "fc"
inputs = ["conv \\N \"1\" &amp;"]
out_features = 10
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
inputs = ["fc"]
"""


class Exported(unittest.TestCase):
    """Runs commands in a folder of its own."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def said(self, command):
        outcome = cases.run(command, self.folder)
        self.assertEqual(outcome.exit_code, 0, f"{command}: {outcome.said()}")
        return outcome.stdout.decode()

    def json(self, command):
        return json.loads(self.said(command + " --json"))

    def read(self, name):
        return (self.folder / name).read_bytes()

    def write(self, name, text):
        (self.folder / name).write_text(text)


def busy_seconds(prediction, steps):
    """How long each device is occupied in all steps."""
    shares = prediction["utilisation"]["devices"]
    return [d["compute_share"] * prediction["step_seconds"] * steps for d in shares]


class Trace(Exported):
    CASE = "alexnet --cluster p100-2x2 --strategy owt --steps 3"

    def test_one_file_is_what_predict_writes(self):
        self.said(f"strata predict {self.CASE} --trace a.json")
        self.said(f"strata export trace {self.CASE} -o b.json")
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    def ranks(self):
        made = self.json(f"strata export trace {self.CASE} --per-rank -o ranks")
        self.assertEqual(made["files"], [f"ranks/rank.{i}.json" for i in range(4)])
        self.assertEqual(sorted(cases.tree(self.folder / "ranks")),
                         [f"rank.{i}.json" for i in range(4)])
        return [json.loads(self.read(name)) for name in made["files"]]

    def test_each_rank_says_which_it_is(self):
        for rank, trace in enumerate(self.ranks()):
            self.assertEqual(trace["distributedInfo"],
                             {"backend": "nccl", "rank": rank, "world_size": 4})
            # What HTA looks for, in the text, before it reads the JSON.
            self.assertRegex(self.read(f"ranks/rank.{rank}.json").decode(), r'"rank":\s+\d+')

    def test_kernels_have_a_stream_and_a_launch_within_their_step(self):
        for trace in self.ranks():
            events = collections.defaultdict(list)
            for e in trace["traceEvents"]:
                if e["ph"] == "X":
                    events[e["cat"]].append(e)
            steps = sorted((e["ts"], e["ts"] + e["dur"], e["name"])
                           for e in events["user_annotation"])
            self.assertEqual([s[2] for s in steps], [f"ProfilerStep#{i}" for i in range(3)])
            for (_, end, _), (begin, _, _) in zip(steps, steps[1:]):
                self.assertAlmostEqual(end, begin, delta=1e-5)
            launches = {e["args"]["correlation"]: e["ts"] for e in events["cuda_runtime"]}
            self.assertEqual(len(launches), len(events["cuda_runtime"]))
            self.assertEqual(set(launches), {e["args"]["correlation"] for e in events["kernel"]})
            for e in events["kernel"]:
                self.assertGreater(e["args"]["stream"], 0)
                self.assertEqual(e["args"]["stream"], e["tid"])
                begin, end, _ = steps[e["args"]["step"]]
                at = launches[e["args"]["correlation"]]
                self.assertTrue(begin <= at < end, (begin, at, end))
                self.assertLessEqual(at, e["ts"] + 1e-6)

    def test_computation_adds_up_to_the_prediction_and_the_rest_is_communication(self):
        prediction = self.json(f"strata predict {self.CASE}")
        for rank, trace in enumerate(self.ranks()):
            kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
            compute = [e for e in kernels if not e["name"].startswith("ncclKernel")]
            self.assertTrue(all("bytes" in e["args"] for e in kernels if e not in compute))
            total = sum(e["dur"] for e in compute) * 1e-6
            self.assertAlmostEqual(total / busy_seconds(prediction, 3)[rank], 1, delta=1e-9)

    # Each device gathers of three others: one kernel, of the whole tensor.
    def test_an_exchange_is_one_kernel_of_each_rank(self):
        case = ("gpt:layers=2,hidden=64,heads=4,seq=32,vocab=128 --cluster a100-1x4 "
                "--strategy hybrid:tp=4 --batch 8 --dtype bf16 --as megatron --steps 1")
        made = self.json(f"strata export trace {case} --per-rank -o ranks")
        et = self.json(f"strata export chakra {case} -o et")
        for trace, file in zip(made["files"], et["files"]):
            kernels = [e for e in json.loads(self.read(trace))["traceEvents"]
                       if e.get("cat") == "kernel" and "all-gather" in e["name"]]
            nodes = [n for n in chakra_wire.read(self.read(file))[1]
                     if n["type"] == COLLECTIVE and is_exchange(n["attr"])
                     and n["attr"]["comm_type"] == chakra_wire.ALL_GATHER]
            self.assertTrue(kernels)
            self.assertEqual([(e["name"], e["args"]["bytes"]) for e in kernels],
                             [("ncclKernel_AllGather " + n["name"], n["attr"]["group_bytes"])
                              for n in nodes])


def is_exchange(attributes):
    """Whether a collective moves activations or their gradients."""
    phase = attributes["phase"]
    return (attributes["comm_type"] != chakra_wire.ALL_REDUCE and phase != "update"
            and "statistics" not in phase)


class Chakra(Exported):
    """What holds for the execution traces of any plan."""

    def export(self, options, steps=2):
        case = f"{options} --steps {steps}"
        made = self.json(f"strata export chakra {case} -o et")
        prediction = self.json(f"strata predict {case}")
        files = [chakra_wire.read(self.read(name)) for name in made["files"]]
        for rank, (about, nodes) in enumerate(files):
            self.assertEqual(about["attr"]["rank"], rank)
            self.assertEqual(about["attr"]["world_size"], made["devices"])
        self.assertEqual(sum(len(nodes) for _, nodes in files), made["nodes"])
        return made, prediction, [nodes for _, nodes in files]

    def check(self, options, steps=2):
        made, prediction, ranks = self.export(options, steps)
        self.check_order(ranks)
        self.check_durations(ranks, busy_seconds(prediction, steps), prediction["makespan_seconds"])
        self.check_messages(ranks)
        self.check_collectives(ranks)
        self.check_bytes(ranks, prediction, steps)
        return made, ranks

    # Ids count up, and dependencies lead back: there is no cycle.
    def check_order(self, ranks):
        for nodes in ranks:
            self.assertEqual([n["id"] for n in nodes], list(range(len(nodes))))
            self.assertEqual([n["type"] for n in nodes].count(METADATA), 1)
            self.assertEqual(nodes[0]["type"], METADATA)
            for n in nodes:
                deps = n["data_deps"] + n["ctrl_deps"]
                self.assertEqual(len(set(deps)), len(deps))
                self.assertTrue(all(d < n["id"] for d in deps))
                ends = [nodes[d]["attr"]["start_nanos"] + nodes[d]["attr"]["duration_nanos"]
                        for d in n["data_deps"] if nodes[d]["type"] != SEND]
                if n["type"] != COLLECTIVE:  # which starts for all when the last is ready
                    self.assertLessEqual(max(ends, default=0), n["attr"]["start_nanos"] + 1e-3)

    occupying = {COMPUTE}

    def check_durations(self, ranks, busy, makespan):
        for nodes, expected in zip(ranks, busy):
            total = math.fsum(n["attr"]["duration_nanos"] for n in nodes
                              if n["type"] in self.occupying)
            self.assertAlmostEqual(total * 1e-9 / expected, 1, delta=1e-9)
        end = max(n["attr"]["start_nanos"] + n["attr"]["duration_nanos"]
                  for nodes in ranks for n in nodes)
        self.assertAlmostEqual(end * 1e-9, makespan, delta=2e-12)
        for n in sum(ranks, []):
            self.assertLessEqual(abs(n["duration_micros"] - n["attr"]["duration_nanos"] / 1e3), 0.5)

    def check_messages(self, ranks):
        ends = collections.defaultdict(dict)
        for rank, nodes in enumerate(ranks):
            for n in nodes:
                if n["type"] not in (SEND, RECEIVE):
                    continue
                a = n["attr"]
                self.assertIs(a["is_cpu_op"], False)
                self.assertEqual(a["comm_src" if n["type"] == SEND else "comm_dst"], rank)
                key = (a["comm_tag"], a["comm_src"], a["comm_dst"])
                self.assertNotIn(n["type"], ends[key])
                ends[key][n["type"]] = (a["comm_size"], a["task"], a["step"])
        tags = [tag for tag, _, _ in ends]
        self.assertEqual(len(set(tags)), len(tags))
        for both in ends.values():
            self.assertEqual(set(both), {SEND, RECEIVE})
            self.assertEqual(both[SEND], both[RECEIVE])

    # Every communicator's members take part in the same collectives in the same order.
    def check_collectives(self, ranks):
        members, order = {}, collections.defaultdict(dict)
        for rank, nodes in enumerate(ranks):
            text = nodes[0]["inputs"]
            self.assertTrue(text.startswith("['") and text.endswith("']"))
            for group in json.loads(text[2:-2]):
                self.assertEqual(members.setdefault(group["pg_name"], group["ranks"]),
                                 group["ranks"])
                self.assertIn(rank, group["ranks"])
                order[group["pg_name"]][rank] = []
            for n in nodes:
                if n["type"] == COLLECTIVE:
                    a = n["attr"]
                    self.assertEqual(n["ctrl_deps"], [0])
                    self.assertEqual(a["group_size"], len(members[a["pg_name"]]))
                    order[a["pg_name"]][rank].append(
                        (a["comm_tag"], a["comm_type"], a["comm_size"]))
        for name, lists in order.items():
            self.assertEqual(sorted(lists), members[name])
            self.assertEqual(len({tuple(one) for one in lists.values()}), 1, name)

    # INTERFACE's counting: r replicas of B bytes are 2 (r-1) B, once a group; of an exchange each
    # device receives all but its own share.
    def check_bytes(self, ranks, prediction, steps):
        moved = {"transfer_bytes": 0, "sync_bytes": 0, "statistics_bytes": 0}
        for nodes in ranks:
            for n in nodes:
                a = n["attr"]
                if n["type"] == RECEIVE:
                    moved["sync_bytes" if a["phase"] == "update"
                          else "transfer_bytes"] += a["comm_size"]
                elif n["type"] == COLLECTIVE and is_exchange(a):
                    share = (a["group_size"] - 1) * a["group_bytes"] / a["group_size"]
                    moved["transfer_bytes"] += share
                elif n["type"] == COLLECTIVE and a["comm_type"] in (0, 7):
                    share = 2 * (a["group_size"] - 1) * a["group_bytes"] / a["group_size"]
                    moved["sync_bytes" if a["phase"] == "update" else "statistics_bytes"] += share
        for key, total in moved.items():
            self.assertAlmostEqual(total, steps * prediction[key], delta=1e-6 * total + 1e-6, msg=key)

    def test_one_weird_trick(self):
        made, ranks = self.check("lenet5 --cluster p100-2x2 --strategy owt", steps=3)
        self.assertEqual(made["waits_left_out"], 0)
        types = collections.Counter(n["type"] for nodes in ranks for n in nodes)
        self.assertTrue(types[SEND] and types[COLLECTIVE] and types[COMPUTE])
        # Each step's tasks once more, each linked to the one before.
        self.assertEqual({n["attr"].get("step") for n in ranks[0][1:]}, {0, 1, 2})
        first = {n["id"] for n in ranks[0][1:] if n["attr"]["step"] == 0}
        self.assertTrue(any(first & set(n["data_deps"]) for n in ranks[0][1:]
                            if n["attr"]["step"] == 1))

    def test_a_parameter_server_is_messages(self):
        _, ranks = self.check("alexnet --cluster p100-1x4 --strategy data --sync ps")
        self.assertFalse([n for nodes in ranks for n in nodes if n["type"] == COLLECTIVE])

    def test_branches_batch_norm_and_hierarchy(self):
        made, _ = self.check("resnet50 --cluster p100-2x2 --strategy data --sync hierarchical", 1)
        self.assertEqual(made["waits_left_out"], 0)

    def test_devices_without_copy_engines_reduce_and_gather(self):
        toy = (cases.HERE / "toy.toml").read_text()
        self.write("cpu.toml", toy.replace('kind = "p100"', 'kind = "cpu"'))
        self.occupying = {COMPUTE, RECEIVE, COLLECTIVE}
        _, ranks = self.check("lenet5 --cluster cpu:3 --strategy data --profile cpu.toml")
        kinds = {n["attr"]["comm_type"] for nodes in ranks for n in nodes
                 if n["type"] == COLLECTIVE}
        self.assertEqual(kinds, {2, 7})

    def test_flows_that_were_put_together(self):
        made, ranks = self.check("alexnet --cluster p100-9x4 --strategy owt", 1)
        self.assertEqual(made["waits_left_out"], 0)  # every sender sends to every receiver
        receives = collections.Counter((n["attr"]["task"], rank) for rank, nodes in enumerate(ranks)
                                       for n in nodes if n["type"] == RECEIVE)
        self.assertEqual(max(receives.values()), 35)

    def test_exchanges_of_tensor_parallelism_are_collectives(self):
        network = "gpt:layers=2,hidden=64,heads=4,seq=32,vocab=128"
        made, ranks = self.check(f"{network} --cluster a100-1x4 --strategy hybrid:tp=4 --batch 8 "
                                 "--dtype bf16 --as megatron")
        self.assertEqual(made["waits_left_out"], 0)
        exchanges = [n for n in ranks[0] if n["type"] == COLLECTIVE and is_exchange(n["attr"])]
        types = collections.Counter(n["attr"]["comm_type"] for n in exchanges)
        self.assertEqual(set(types), {chakra_wire.ALL_GATHER, chakra_wire.REDUCE_SCATTER})
        # Without sequence parallelism what is scattered is gathered again: one all-reduce.
        self.assertTrue(any(n["attr"].get("half_of_all_reduce") for n in exchanges))
        # Those of one tensor have the parts that it is scattered in: 8 x 32 x 64 values.
        self.assertIn(2 * 8 * 32 * 64, {n["attr"]["group_bytes"] for n in exchanges})

    def test_work_is_counted(self):
        # A 3 x 3 convolution of 3 into 8 channels on 9 x 9, 4 samples a device: 2 operations a MAC.
        self.write("net.toml", NET)
        _, _, ranks = self.export("net.toml --cluster p100-1x2 --strategy data --batch 8", 1)
        forward = next(n for n in ranks[0] if n["name"].endswith("forward"))
        self.assertEqual(forward["attr"]["num_ops"], 2 * 4 * 81 * 8 * 27)

    def products(self, options):
        case = "gpt:layers=1,hidden=32,heads=4,seq=16,vocab=64 --cluster p100-1x2 --strategy data"
        _, _, ranks = self.export(f"{case} {options}", 1)
        return {n["name"]: n["attr"].get("product") for n in ranks[0]}

    def test_merged_products_are_named(self):
        of = self.products("--set products=merged")
        self.assertEqual(of["block1_key forward"], "block1_query, block1_key, block1_value")
        self.assertIsNone(of["block1_ffn_in forward"])
        self.assertIsNone(of["block1_key update"])  # a bucket may hold others, too

    def test_products_apart_are_not(self):
        self.assertEqual(set(self.products("").values()), {None})

    def test_same_input_same_bytes(self):
        for name in "ab":
            self.said(f"strata export chakra lenet5 --cluster p100-1x4 --strategy model -o {name}")
        self.assertEqual(cases.tree(self.folder / "a"), cases.tree(self.folder / "b"))


class Graph(Exported):
    def drawn(self, name):
        if shutil.which("dot") is None:
            self.skipTest("no dot: the package graphviz is not installed")
        return subprocess.run(["dot", "-Tplain", name], cwd=self.folder, check=True,
                              capture_output=True).stdout.decode()

    def test_a_network_alone(self):
        layers = self.json("strata show inception_v3")["layers"]
        self.said("strata export graph inception_v3 -o net.dot")
        lines = self.read("net.dot").decode().splitlines()
        self.assertEqual(sum("[label=" in line and "->" not in line for line in lines), len(layers))
        number = {layer["name"]: i for i, layer in enumerate(layers)}
        edges = [f"  n{number[i]} -> n{number[layer['name']]};"
                 for layer in layers for i in layer["inputs"]]
        self.assertEqual([line for line in lines if "->" in line], edges)

    def test_a_strategy_colours_what_is_cut_alike_and_says_what_moves(self):
        self.said("strata export graph lenet5 --cluster p100-1x4 --strategy owt -o a.dot")
        text = self.read("a.dot").decode()
        colour = {line.split('"')[1].split("\\n")[0]: line.split('fillcolor="')[1].split('"')[0]
                  for line in text.splitlines() if "fillcolor=\"#" in line}
        self.assertEqual(colour["conv1"], colour["pool2"])
        self.assertEqual(colour["fc1"], colour["fc3"])
        self.assertNotEqual(colour["conv1"], colour["fc1"])
        # fc1 reads all 400 channels of 128 samples on each of 4 devices, which hold a quarter:
        # 3/4 of 4 x 128 x 400 floats, and as much back.
        self.assertIn("[label=\"614.40 kB\\n614.40 kB back\", penwidth=2]", text)
        self.assertIn("c=4 on gpu0, gpu1, gpu2, gpu3", text)

    def test_names_are_escaped(self):
        self.write("net.toml", NET)
        self.said("strata export graph net.toml -o net.dot")
        self.assertIn(r'[label="conv \\N \"1\" &amp;amp;\nconv2d  8 x 9 x 9"]',
                      self.read("net.dot").decode())

    def test_graphviz_draws_it(self):
        self.write("net.toml", NET)
        self.said("strata export graph net.toml --cluster p100-1x2 --strategy model -o net.dot")
        self.assertIn("graph ", self.drawn("net.dot"))


if __name__ == "__main__":
    unittest.main()
