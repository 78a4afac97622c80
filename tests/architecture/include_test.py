"""The repository keeps the rules of arrows.py, and arrows.py finds each kind of violation."""

import pathlib
import tempfile
import unittest

from arrows import violations

ROOT = pathlib.Path(__file__).resolve().parents[2]


def breaches(files):
    """The violations of a tree of these files, {path: text}; headers get their #pragma once."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#pragma once\n" + text if path.endswith(".h") else text)
        return violations(folder)


class Repository(unittest.TestCase):
    def test_it_keeps_the_rules(self):
        found = violations(ROOT)
        self.assertEqual(found, [], "\n" + "\n".join(found))


class Reader(unittest.TestCase):
    def test_an_arrow_up_is_well_and_an_arrow_down_is_not(self):
        tree = {
            "sim/base/index.h": "",
            "sim/base/CMakeLists.txt": "strata_library(base)",
            "sim/graph/graph.h": '#include "sim/base/index.h"\n',
            "sim/graph/CMakeLists.txt": "strata_library(graph LINKS strata_base)",
        }
        self.assertEqual(breaches(tree), [])
        tree["sim/base/index.h"] = '\n#include "sim/graph/graph.h"\n'
        tree["sim/base/CMakeLists.txt"] = "strata_library(base LINKS strata_graph)"
        self.assertEqual(
            breaches(tree),
            ["sim/base/index.h:3: sim/base includes sim/graph, which does not stand above it"],
        )

    def check_include(self, path, include, wrong):
        """One file with one include line, and what must be said of that line (None: nothing)."""
        tree = {path: f"#include {include}\n"}
        if include.startswith('"'):
            tree.setdefault(include.strip('"'), "")
        line = 2 if path.endswith(".h") else 1
        found = [breach for breach in breaches(tree) if "CMakeLists" not in breach]
        self.assertEqual(found, [f"{path}:{line}: {wrong}"] if wrong else [], include)

    def test_sim_knows_neither_exec_nor_the_programs(self):
        for target in ("exec/runtime", "cli", "gui/models"):
            self.check_include("sim/study/a.cpp", f'"{target}/b.h"',
                               f"sim/study includes {target}, which does not stand above it")

    def test_exec_knows_nothing_of_strategies_costs_and_their_users(self):
        for name in ("strategy", "cost", "engine", "solver", "store", "scenario"):
            self.check_include("exec/runtime/a.cpp", f'"sim/{name}/b.h"',
                               f"exec/runtime must not include sim/{name}")
        self.check_include("exec/runtime/a.cpp", '"sim/plan/plan.h"', None)

    def test_the_other_forbidden_pairs(self):
        self.check_include("sim/solver/a.cpp", '"sim/simulate/b.h"',
                           "sim/solver must not include sim/simulate")
        self.check_include("exec/cuda/a.cu", '"exec/cpu/b.h"',
                           "exec/cuda must not include exec/cpu")
        self.check_include("exec/cuda/tensor/a.h", '"exec/cuda/run/b.h"',
                           "exec/cuda/tensor includes exec/cuda/run, which does not stand above it")
        self.check_include("exec/cpu/a.cpp", '"exec/cuda/b.h"',
                           "exec/cpu includes exec/cuda, which does not stand above it")
        self.check_include("gui/models/a.cpp", '"cli/b.h"',
                           "gui/models includes cli, which does not stand above it")

    def test_only_main_links_the_executor_to_the_program(self):
        self.check_include("cli/main.cpp", '"exec/runtime/b.h"', None)
        self.check_include("cli/predict.cpp", '"exec/runtime/b.h"',
                           "cli includes exec; only main.cpp may")

    def test_vendor_headers_stay_where_they_belong(self):
        for include, allowed, wrong in [
            ("<QString>", "gui/models", "Qt stays in gui"),
            ("<QtCore/QString>", "gui/widgets", "Qt stays in gui"),
            ("<sqlite3.h>", "sim/store", "SQLite stays in sim/store"),
            ("<cuda_runtime.h>", "exec/cuda", "CUDA stays in exec/cuda"),
            ("<nccl.h>", "exec/cuda", "CUDA stays in exec/cuda"),
            ("<toml++/toml.h>", "sim/text", "toml++ stays in sim/text"),
            ("<simdjson.h>", "sim/replay",
             "simdjson stays in sim/text, sim/importers, sim/replay"),
            ("<CLI/CLI.hpp>", "cli", "CLI11 stays in cli"),
        ]:
            self.check_include(f"{allowed}/a.cpp", include, None)
            self.check_include("sim/plan/a.cpp", include, wrong)

    def test_an_include_is_a_path_from_the_root(self):
        self.assertIn('sim/base/a.h:2: "index.h" is not a path from the root',
                      breaches({"sim/base/a.h": '#include "index.h"\n'}))
        self.assertIn('sim/base/a.h:2: "sim/base/gone.h" does not exist',
                      breaches({"sim/base/a.h": '#include "sim/base/gone.h"\n'}))

    def test_a_folder_outside_the_order_is_named(self):
        tree = {"sim/utils/a.cpp": "", "sim/utils/CMakeLists.txt": "strata_library(utils SOURCES a.cpp)"}
        self.assertEqual(breaches(tree), ["sim/utils:1: has no place in the order of folders"])

    def test_a_room_that_its_folder_does_not_list_is_named(self):
        tree = {"cli/shelf/a.cpp": "", "cli/main.cpp": ""}
        self.assertEqual(breaches(tree), ["cli/shelf:1: is no room of cli"])

    def test_a_target_links_what_its_folder_includes_and_no_more(self):
        tree = {
            "sim/base/index.h": "",
            "sim/base/CMakeLists.txt": "strata_library(base)",
            "sim/text/json.cpp": '#include <simdjson.h>\n#include "sim/base/index.h"\n',
            "sim/text/CMakeLists.txt": "strata_library(text SOURCES json.cpp\n"
                                       "  LINKS strata_base PRIVATE_LINKS simdjson::simdjson)",
        }
        self.assertEqual(breaches(tree), [])
        tree["sim/text/CMakeLists.txt"] = "strata_library(text LINKS fmt::fmt)"
        file = "sim/text/CMakeLists.txt:1:"
        self.assertEqual(breaches(tree), [
            f"{file} strata_text includes headers of simdjson::simdjson, not linked",
            f"{file} strata_text includes headers of strata_base, not linked",
            f"{file} strata_text links fmt::fmt and includes nothing of it",
            f"{file} json.cpp is in no target",
        ])

    def test_a_variable_stands_for_the_sources_that_it_lists(self):
        tree = {
            "sim/base/CMakeLists.txt": "set(SOME\n  a.cpp\n  b.cpp)\n"
                                       "strata_library(base SOURCES ${SOME} c.cpp)",
            "sim/base/a.cpp": "", "sim/base/b.cpp": "", "sim/base/c.cpp": "",
        }
        self.assertEqual(breaches(tree), [])

    def test_a_folder_may_hold_two_targets_and_a_header_belongs_to_its_source(self):
        tree = {
            "sim/exporters/replay.h": "",
            "sim/exporters/fields.h": "",
            "sim/exporters/replay.cpp": '#include "sim/exporters/replay.h"\n'
                                      '#include "sim/exporters/fields.h"\n',
            "sim/exporters/trace.cpp": "#include <fmt/format.h>\n",
            "sim/exporters/CMakeLists.txt": "strata_library(replay SOURCES replay.cpp)\n"
            "strata_library(exporters SOURCES trace.cpp PRIVATE_LINKS fmt::fmt)\n",
            "sim/study/study.cpp": '#include "sim/exporters/replay.h"\n',
            "sim/study/CMakeLists.txt": "strata_library(study SOURCES study.cpp"
                                        " LINKS strata_replay)",
        }
        self.assertEqual(breaches(tree), [])
        tree["sim/study/CMakeLists.txt"] = ("strata_library(study SOURCES study.cpp"
                                            " LINKS strata_exporters)")
        self.assertEqual(breaches(tree), [
            "sim/study/CMakeLists.txt:1: strata_study includes headers of strata_replay,"
            " not linked",
            "sim/study/CMakeLists.txt:1: strata_study links strata_exporters"
            " and includes nothing of it",
        ])

    def test_a_header_starts_with_pragma_once(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "cli").mkdir()
            pathlib.Path(folder, "cli/a.h").write_text("int a();\n#pragma once\n")
            self.assertEqual(violations(folder),
                             ["cli/a.h:1: a header starts with #pragma once"])


if __name__ == "__main__":
    unittest.main()
