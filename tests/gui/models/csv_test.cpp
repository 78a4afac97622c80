// Every table of values is one that others read back, whatever layers are called.

#include "gui/models/csv.h"

#include <QTemporaryDir>
#include <fstream>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "gui/models/cluster/link_transfers.h"
#include "gui/models/compare/differences.h"
#include "gui/models/measured/error_recording.h"
#include "gui/models/measured/real_run.h"
#include "gui/models/memory/memory_stack.h"
#include "gui/models/network/layer_table.h"
#include "gui/models/timeline/lanes.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/models/why/explained.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

using CsvLine = std::vector<std::string>;

// A reader that knows no more than RFC 4180: in quotes all is text, and two quotes are one.
std::vector<CsvLine> read_csv(const std::string& text) {
  std::vector<CsvLine> lines;
  CsvLine line(1);
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      inside = !inside;
      if (inside && i > 0 && text[i - 1] == '"') line.back() += '"';
    } else if (inside || (text[i] != ',' && text[i] != '\n')) {
      line.back() += text[i];
    } else if (text[i] == ',') {
      line.emplace_back();
    } else {
      lines.push_back(std::exchange(line, CsvLine(1)));
    }
  }
  return lines;
}

TEST(Csv, QuotesWhatWouldEndACell) {
  EXPECT_EQ(csv_cell("conv1 forward"), "conv1 forward");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("n=2, placed"), "\"n=2, placed\"");
  EXPECT_EQ(csv_cell("the \"same\""), "\"the \"\"same\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_cell("a\r"), "\"a\r\"");
  EXPECT_EQ(csv_line({QStringLiteral("a"), QStringLiteral("b,c"), QString()}).toStdString(),
            "a,\"b,c\",\n");
}

TEST(Csv, IsReadBack) {
  const QStringList cells = {QStringLiteral("\"a\",\nb"), QString(), QStringLiteral("c\"\"d")};
  EXPECT_THAT(
      read_csv((csv_line(cells) + csv_line(cells)).toStdString()),
      ElementsAre(ElementsAre("\"a\",\nb", "", "c\"\"d"), ElementsAre("\"a\",\nb", "", "c\"\"d")));
}

constexpr const char* kOddNames = R"(
name = "odd"
[[layer]]
name = "in"
op = "input"
shape = [3, 8, 8]
[[layer]]
name = "conv 3,3 \"same\""
op = "conv2d"
out_channels = 4
kernel = 3
padding = 1
[[layer]]
name = "flat"
op = "flatten"
[[layer]]
name = "fc,last"
op = "fc"
out_features = 10
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
)";
constexpr const char* kOddName = "conv 3,3 \"same\"";

class OddNamesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    document_.input.model = folder_.filePath("odd.toml").toStdString();
    std::ofstream(document_.input.model) << kOddNames;
    document_.input.cluster = "p100-1x2";
  }
  ScenePtr scene(const std::string& strategy) {
    document_.strategy.source = strategy;
    CaseLoader loader;
    return make_scene(document_, loader);
  }
  // All lines have as many cells as the first, and one of them has this one.
  static void expect_sound(const std::string& csv, const std::string& cell,
                           std::size_t column = 0) {
    bool found = false;
    const auto lines = read_csv(csv);
    ASSERT_GT(lines.size(), 1);
    for (const CsvLine& line : lines) {
      ASSERT_EQ(line.size(), lines.front().size()) << csv;
      found = found || line[column] == cell;
    }
    EXPECT_TRUE(found) << csv;
  }

  const QTemporaryDir folder_;  // cases run side by side
  Document document_;
};

TEST_F(OddNamesTest, StayOneCellInEveryTable) {
  const ScenePtr before = scene("data"), after = scene("model");
  DifferenceTable differences;
  differences.show(layer_differences(*before, *after));
  expect_sound(differences.csv().toStdString(), kOddName);
  LayerTable layers;
  layers.set_scene(before, std::make_shared<Parts>(before->input.graph));
  expect_sound(layers.csv().toStdString(), kOddName);
  LinkTransferTable transfers;
  transfers.show(before, link_transfers(*before, LinkId(0), std::nullopt));
  expect_sound(transfers.csv().toStdString(), kOddName);
  TensorTable tensors;
  tensors.show(before, DeviceId(0), 0);
  expect_sound(tensors.csv(), kOddName);
  const RecordingPtr recording = record(before);
  expect_sound(print_csv(*recording, {{0}, {recording->end}}), kOddName + std::string(" forward"),
               2);
}

// Each names the neighbour whose transfer is the largest.
TEST_F(OddNamesTest, StayOneCellAmongChoices) {
  const ScenePtr made = scene("data");
  ChoiceTable choices;
  choices.set_explained(explained(made, made->input.graph.find("flat")));
  const auto lines = read_csv(choices.csv().toStdString());
  ASSERT_GT(lines.size(), 1);
  bool named = false;
  for (const CsvLine& line : lines) {
    ASSERT_EQ(line.size(), 12);
    named = named || line[7] == kOddName || line[7] == "fc,last";
  }
  EXPECT_TRUE(named);
}

TEST_F(OddNamesTest, StayOneCellAmongErrors) {
  testing::MeasuringRunner runner;
  RealRun run;
  run.document = document_;
  run.rounds = 1;
  ErrorTable errors;
  const MeasuredPtr measured =
      run_for_real(runner, run, nullptr, [](const MeasureProgress&) {}).measured;
  errors.show(measured, explained_errors(*measured));
  expect_sound(errors.csv().toStdString(), kOddName + std::string(" forward"));
}

}  // namespace
}  // namespace strata::gui
