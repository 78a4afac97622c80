// What files are, and what is said of broken ones: an error each from the reader of its kind, in
// words with the file's name, and no crash.

#include "gui/models/file_kind.h"

#include <QTemporaryDir>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "gui/document/document.h"
#include "sim/base/error.h"
#include "sim/case/predict.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"
#include "sim/importers/trace/read_trace.h"
#include "sim/profile/profile.h"
#include "sim/scenario/scenario.h"
#include "sim/store/store.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "tests/gui/models/broken_files.h"
#include "tests/paths.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class FileKindTest : public ::testing::Test {
 protected:
  std::string written(const std::string& name, const std::string& content) const {
    const std::string file = (folder_ / name).string();
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  FileKind kind(const std::string& name, const std::string& content) const {
    return kind_of_file(written(name, content));
  }

  const QTemporaryDir temporary_;  // cases run side by side
  const fs::path folder_ = temporary_.path().toStdString();
};

TEST_F(FileKindTest, IsTheContentsAndNotTheNames) {
  EXPECT_EQ(kind("a.toml", "name = \"a\"\n[[layer]]\nname = \"in\"\n"), FileKind::model);
  EXPECT_EQ(kind("b.toml", "# [[layer]]\nname = \"b\"\n [[device]]\n"), FileKind::cluster);
  EXPECT_EQ(kind("c.toml", "name = \"c\"\n[grid]\nkind = \"p100\"\n"), FileKind::cluster);
  EXPECT_EQ(kind("c2.toml", "name = \"c\"\n[grid\nkind = \"p100\"\n"), FileKind::cluster)
      << "its reader says that line 2 is not closed";
  EXPECT_EQ(kind("d.toml", "[[sweep]]\nmodel = \"vgg16\"\n"), FileKind::scenario);
  EXPECT_EQ(kind("e.txt", "[[report]]\nkind = \"table\"\n"), FileKind::scenario);
  EXPECT_EQ(kind("f.toml", "kind = \"p100\"\n[device]\n"), FileKind::profile);
  EXPECT_EQ(kind("g.json", R"({"strategy": "mine", "layers": []})"), FileKind::strategy);
  EXPECT_EQ(kind("h.json", R"({"traceEvents": []})"), FileKind::trace);
  EXPECT_EQ(kind("i.json", R"([{"ph": "X", "name": "a"}])"), FileKind::trace);
  EXPECT_EQ(kind("i.trace", "[\n {\"ph\": \"X\", \"name\": \"a\"}]"), FileKind::trace);
  EXPECT_EQ(kind("j.strata", print_desk({{}})), FileKind::session);
  EXPECT_EQ(kind("k.results", std::string("SQLite format 3\0", 16)), FileKind::database);
  EXPECT_EQ(kind("l.bin", "\x08\x08\x12\x07pytorch"), FileKind::onnx);
  EXPECT_EQ(kind("m.db", ""), FileKind::database);
  EXPECT_EQ(kind("n.toml", ""), FileKind::unknown);
  EXPECT_EQ(kind("o.txt", "Dear reader,\n"), FileKind::unknown);
}

TEST_F(FileKindTest, OfANameIsWhatItNames) {
  EXPECT_TRUE(is_named("vgg16"));
  EXPECT_TRUE(is_named("a100-2x8"));
  EXPECT_FALSE(is_named("nothing"));
  const Document desk = with_part({}, read_for("gpt2", {}));
  EXPECT_EQ(desk.input.model, "gpt2");
  EXPECT_EQ(with_part(desk, read_for("a100-2x8", desk)).input.cluster, "a100-2x8");
}

TEST_F(FileKindTest, OfWhatShips) {
  const fs::path root = source_path("");
  EXPECT_EQ(kind_of_file(root / "scenarios/paper.toml"), FileKind::scenario);
  EXPECT_EQ(kind_of_file(root / "scenarios/what-if.toml"), FileKind::scenario);
  for (const auto& [folder, kind] : {std::pair("scenarios/clusters", FileKind::cluster),
                                     {"scenarios/models", FileKind::model},
                                     {"scenarios/strategies", FileKind::strategy},
                                     {"profiles", FileKind::profile}}) {
    for (const auto& file : fs::directory_iterator(root / folder)) {
      if (file.path().extension() != ".toml" && folder == std::string_view("profiles")) continue;
      EXPECT_EQ(kind_of_file(file.path()), kind) << file.path();
    }
  }
}

TEST_F(FileKindTest, OfNoFileIsAnError) {
  for (const std::string& file : {(folder_ / "none.toml").string(), folder_.string()}) {
    try {
      kind_of_file(file);
      FAIL() << file;
    } catch (const InputError& error) {
      EXPECT_THAT(error.message(), HasSubstr(file + ": cannot be read: "));
    }
  }
}

/// What opening a file of its kind would do.
void read_as_its_kind(const std::string& file) {
  switch (kind_of_file(file)) {
    case FileKind::model:
      read_model(file, 32);
      return;
    case FileKind::cluster:
      read_cluster(file);
      return;
    case FileKind::scenario:
      read_scenario(file);
      return;
    case FileKind::profile:
      read_profile(file);
      return;
    case FileKind::strategy:
      read_strategy(file, build_zoo("lenet5", 8), load_cluster("p100-1x2"));
      return;
    case FileKind::trace:
      read_trace(file);
      return;
    case FileKind::session:
      parse_desk(read_file(file), file);
      return;
    case FileKind::database:
      Store(file, OpenMode::read).query("SELECT * FROM cases");
      return;
    case FileKind::onnx:
      load_model(file, 32);
      return;
    case FileKind::unknown:
      throw InputError(unknown_file(file));
  }
}

TEST_F(FileKindTest, ThirtyBrokenFilesAreThirtyErrors) {
  std::size_t errors = 0;
  for (const testing::BrokenFile& broken : testing::broken_files()) {
    SCOPED_TRACE(broken.name);
    const std::string file = written(broken.name, broken.content);
    try {
      read_as_its_kind(file);
      ADD_FAILURE() << "was read";
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr(broken.name));
      EXPECT_NE(error.exit_code(), 1);
      ++errors;
    }
  }
  EXPECT_GE(errors, 30);
}

}  // namespace
}  // namespace strata::gui
