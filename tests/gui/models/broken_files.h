#pragma once

// Files of every kind that are not what they seem to be: each is an error when it is opened.

#include <string>
#include <vector>

namespace strata::testing {

struct BrokenFile {
  const char* name;
  std::string content;
};

inline std::vector<BrokenFile> broken_files() {
  const std::string magic("SQLite format 3\0", 16);
  return {
      {"empty.toml", ""},
      {"empty.json", ""},
      {"prose.txt", "Dear reader, this is no network.\n"},
      {"zeros.bin", std::string(5000, '\0')},
      {"no-name.toml", "[[layer]]\nname = \"in\"\nop = \"input\"\nshape = [3, 8, 8]\n"},
      {"unclosed.toml", "name = \"net\n[[layer]]\n"},
      {"not-utf8.toml", "name = \"\xff\xfe\"\n[[layer]]\n"},
      {"no-input.toml", "name = \"a\"\n[[layer]]\nname = \"b\"\nop = \"relu\"\n"},
      {"bad-op.toml", "name = \"a\"\n[[layer]]\nname = \"b\"\nop = \"dream\"\n"},
      {"bad-shape.toml", "name = \"a\"\n[[layer]]\nname = \"b\"\nop = \"input\"\nshape = [-1]\n"},
      {"link-to-nowhere.toml", "name = \"a\"\n[[link]]\nfrom = \"x\"\nto = \"y\"\n"},
      {"no-unit.toml",
       "name = \"a\"\n[[device]]\nname = \"g\"\n[[device]]\nname = \"h\"\n"
       "[[link]]\nfrom = \"g\"\nto = \"h\"\nbandwidth = \"fast\"\nlatency = \"1 us\"\n"},
      {"empty-grid.toml", "name = \"a\"\n[grid]\n"},
      {"grid-of-none.toml", "name = \"a\"\n[grid]\nhosts = 0\n"},
      {"no-strategy.toml", "[[sweep]]\nmodel = \"vgg16\"\ncluster = \"p100-1x2\"\n"},
      {"unknown-key.toml", "[[sweep]]\nmodle = \"vgg16\"\n"},
      {"endless.toml",
       "[[sweep]]\nmodel = \"vgg16\"\ncluster = \"p100-1x2\"\nstrategy = \"data\"\n"
       "batch = { from = 1, to = 5, step = -1 }\n"},
      {"too-many.toml",
       "[[sweep]]\nmodel = \"vgg16\"\ncluster = \"p100-1x2\"\nstrategy = \"data\"\n"
       "batch = { from = 1, to = 99999999, step = 1 }\n"},
      {"half.toml", "[[report]\n"},
      {"no-peak.toml", "kind = \"x\"\n[device]\n"},
      {"ends-early.json", "{\"layers\": [\n"},
      {"comma.json", "{\"strategy\": \"a\", \"layers\": [],}"},
      {"unknown-layer.json", R"({"strategy": "a", "layers": [{"name": "x", "config": {"n": 2}}]})"},
      {"too-wide.json", R"({"strategy": "a", "default": {"n": 64}, "layers": []})"},
      {"trace-of-text.json", R"({"traceEvents": "many"})"},
      {"trace-cut-off.json", R"({"traceEvents": [{"ph": "X", "ts": 1)"},
      {"old-session.json", R"({"strata_document": 99})"},
      {"session-without-model.json", R"({"strata_document": 1, "input": {}})"},
      {"text.db", "no database\n"},
      {"cut-off.db", magic},
      {"another-program.sqlite", magic + std::string(84, '\1')},
      {"network.onnx", "\x08\x08\x12\x07pytorch"},
      {"locks.json", R"({"strata_document": 1, "input": [], "locked": 3})"},
  };
}

}  // namespace strata::testing
