// Nothing that the command line can say of a prediction or a search is missing in the window: every
// setting and every what-if of their tables has a field. docs/settings.md lists them; with
// STRATA_ACCEPT=1 a test writes that page anew, and fails.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "gui/document/document_settings.h"
#include "sim/case/what_ifs.h"
#include "sim/text/file.h"
#include "tests/gui/widgets/window_test.h"
#include "tests/paths.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SettingsTest : public WindowTest {
 protected:
  void SetUp() override {
    window_->open_document(lenet());
    settle();
  }
  QWidget* field(std::string_view key) const {
    return window_->findChild<QWidget*>(
        QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size())));
  }
  QComboBox& box(const char* name) const { return *window_->findChild<QComboBox*>(name); }
  void type(const char* key, const QString& text) {
    auto& line = *window_->findChild<QLineEdit*>(key);
    line.setText(text);
    QTest::keyClick(&line, Qt::Key_Return);
    settle();
  }
  void choose(const char* key, const QString& text) {
    box(key).setCurrentText(text);
    emit box(key).textActivated(text);
    settle();
  }
  void set_what_if(const std::string& key, const QString& selector, const QString& value) {
    box("what_if_key").setCurrentText(QString::fromStdString(key));
    if (!selector.isEmpty()) box("what_if_selector").setEditText(selector);
    box("what_if_value").setEditText(value);
    click("set_what_if");
    settle();
  }
};

/// A setting that has no field, and what the window has for it.
struct NoField {
  std::string_view key, instead;
};
constexpr std::string_view kTrains = "none: the window measures steps, and trains nothing";
constexpr std::array kNoField = {
    NoField{"devices", "Predicted and measured: Run on"},
    NoField{"warmup", kTrains},
    NoField{"lr", kTrains},
    NoField{"beta1", kTrains},
    NoField{"beta2", kTrains},
    NoField{"epsilon", kTrains},
    NoField{"weight_decay", kTrains},
    NoField{"seed", kTrains},
    NoField{"layers", "always: the Network and Why views"},
    NoField{"tolerance", "none: `strata run --check` alone has it"},
};

// Of predictions and searches, and what the command line alone has.
bool is_of_window(const SettingSpec& spec) {
  const bool asked = goes_with(spec, Job::predict) || goes_with(spec, Job::solve);
  return (asked || spec.jobs.empty()) &&
         std::ranges::find(kNoField, spec.key, &NoField::key) == kNoField.end();
}

TEST_F(SettingsTest, EverySettingHasAField) {
  for (const SettingSpec& spec : settings()) {
    if (!is_of_window(spec)) continue;
    const QWidget* const found = field(spec.key);
    if (found == nullptr) {
      ADD_FAILURE() << "the window has no field for `" << spec.key << "`";
      continue;
    }
    EXPECT_FALSE(found->toolTip().isEmpty()) << spec.key;
    EXPECT_FALSE(found->accessibleName().isEmpty()) << spec.key;
  }
}

TEST_F(SettingsTest, EveryWhatIfCanBeSet) {
  Document mixture;
  mixture.input.model = "llama:layers=1,hidden=64,heads=4,ffn=64,seq=16,vocab=64,experts=4";
  mixture.input.cluster = "h100-1x2";
  mixture.input.training.dtype = DType::bf16;
  window_->open_document(mixture);
  settle();
  const QComboBox& keys = box("what_if_key");
  for (const WhatIfSpec& spec : what_ifs()) {
    const QString pattern = QString::fromUtf8(spec.key.data(), static_cast<int>(spec.key.size()));
    if (keys.findText(pattern) < 0) {
      ADD_FAILURE() << "the window has no what-if " << spec.key;
      continue;
    }
    const QString value = QString::fromStdString(values_of(spec).back());
    set_what_if(std::string(spec.key), {}, value);
    EXPECT_EQ(workspace_->document().what_if(key_with(spec, "*")), value.toStdString()) << spec.key;
    EXPECT_EQ(window_->shown_error(), "") << spec.key;
    workspace_->undo_stack().undo();
  }
}

TEST_F(SettingsTest, AWhatIfSaysWhatIsWrongAsTheCommandLineDoes) {
  set_what_if("link.SELECTOR.bandwidth", "inter", "2x");
  EXPECT_EQ(workspace_->document(), lenet());
  const QString said = window_->view("what_if")->notice();
  EXPECT_THAT(said.toStdString(), HasSubstr("link.inter.bandwidth"));
  EXPECT_THAT(said.toStdString(), HasSubstr("intra"));
  set_what_if("overlap", {}, "perhaps");
  EXPECT_THAT(window_->view("what_if")->notice().toStdString(), HasSubstr("allowed: on, off"));
}

TEST_F(SettingsTest, ASelectorIsOfferedAndAValueTakenBack) {
  box("what_if_key").setCurrentText("device.SELECTOR.speed");
  EXPECT_GE(box("what_if_selector").findText("p100"), 0);
  EXPECT_GE(box("what_if_selector").findText("gpu1"), 0);
  set_what_if("device.SELECTOR.speed", "gpu1", "0.5x");
  EXPECT_EQ(workspace_->document().what_if("device.gpu1.speed"), "0.5x");
  set_what_if("device.SELECTOR.speed", "gpu1", "");
  EXPECT_EQ(workspace_->document(), lenet());
}

TEST_F(SettingsTest, EachFormIsAnEditThatCanBeUndone) {
  choose("gradients", "bf16");
  EXPECT_EQ(workspace_->document().input.training.gradients, GradientType::bf16);
  choose("gradients", "usual");
  EXPECT_EQ(workspace_->document(), lenet());
  choose("as", "megatron");
  EXPECT_EQ(workspace_->document().input.framework, "megatron");
  EXPECT_EQ(box("optimizer").currentText(), "adam");
  action("Undo")->trigger();
  EXPECT_EQ(box("as").currentText(), "none");
  window_->findChild<QCheckBox*>("free_elementwise")->click();
  EXPECT_TRUE(workspace_->document().search.space.free_elementwise);
  type("memory_limit", "12 GiB");
  EXPECT_EQ(workspace_->document().search.memory_limit, Bytes{12LL << 30});
  type("memory_limit", "");
  EXPECT_EQ(workspace_->document().search.memory_limit, std::nullopt);
  type("gap", "half");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("gap"));
  EXPECT_THAT(window_->shown_error().toStdString(), Not(HasSubstr("`")));
  EXPECT_EQ(window_->findChild<QLineEdit*>("gap")->text(), "0");
}

TEST_F(SettingsTest, AFileThatIsNoneChangesNothing) {
  choose("as", "missing.toml");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("missing.toml"));
  EXPECT_EQ(box("as").currentText(), "none");
  EXPECT_EQ(workspace_->document(), lenet());
}

TEST_F(SettingsTest, AStepOfDrawnTimesIsSaidBesideTheOthers) {
  type("jitter", "1");
  click("trust");
  const auto* const text = window_->findChild<QLabel*>("trust_text");
  EXPECT_THAT(text->text().toStdString(), HasSubstr("drawn from its spread"));
  EXPECT_EQ(workspace_->document().simulation.jitter, 1U);
}

TEST_F(SettingsTest, AsManyStepsAreSimulatedAsItsFieldSays) {
  for (const int steps : {1, 2, 7}) {
    window_->findChild<QSpinBox*>("steps")->setValue(steps);
    settle();
    EXPECT_EQ(window_->shown_error(), "") << steps;
    EXPECT_EQ(workspace_->scene()->prediction.timeline.steps(), static_cast<std::size_t>(steps));
  }
}

TEST_F(SettingsTest, ASearchIsAsItsFieldsSay) {
  window_->findChild<QSpinBox*>("k_best")->setValue(3);
  settle();
  click("find_fastest");
  settle();
  EXPECT_EQ(window_->shown_error(), "");
  const TriedCase* tried = workspace_->scoreboard().find(workspace_->document().input);
  ASSERT_NE(tried, nullptr);
  const auto found = std::ranges::count_if(
      tried->strategies, [](const TriedStrategy& one) { return one.choice.edited(); });
  EXPECT_EQ(found, 3);
  type("memory_limit", "1 MB");
  click("find_fastest");
  settle();
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("no strategy"));
}

TEST_F(SettingsTest, TrustStandsBesideTheStep) {
  const auto* const trust = window_->findChild<QToolButton*>("trust");
  EXPECT_THAT(trust->text().toStdString(), HasSubstr("% measured"));
  for (const char* words : {"Compute time rests on: ", "90 of 100 steps lie there, "}) {
    EXPECT_THAT(trust->toolTip().toStdString(), HasSubstr(words));
  }
  choose("dtype", "bf16");
  EXPECT_THAT(trust->text().toStdString(), HasSubstr("1 warning"));
  EXPECT_THAT(trust->toolTip().toStdString(), HasSubstr("p100 has no bf16 arithmetic"));
}

// "More: Optimizer"; the line itself has no name.
std::string place_of(const QWidget& field) {
  const std::map<QString, std::string> panels = {{"more_fields", "More: "},
                                                 {"search_fields", "Search: "}};
  std::string place;
  for (const QWidget* at = &field; at != nullptr; at = at->parentWidget()) {
    if (const auto panel = panels.find(at->objectName()); panel != panels.end()) {
      place = panel->second;
    }
  }
  return place + field.accessibleName().toStdString();
}

std::string jobs_text(const SettingSpec& spec) {
  std::vector<std::string_view> names;
  for (const auto& [job, name] : std::array<std::pair<Job, std::string_view>, 3>{
           {{Job::predict, "predict"}, {Job::solve, "solve"}, {Job::run, "run"}}}) {
    if (goes_with(spec, job)) names.push_back(name);
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

std::string option_text(const SettingSpec& spec) {
  if (spec.key == "model") return "`MODEL`";
  if (spec.key == "layers") return "always: `--json`";
  std::string option = fmt::format("--{}", spec.key);
  std::ranges::replace(option, '_', '-');
  return spec.placeholder.empty() ? fmt::format("`{}`", option)
                                  : fmt::format("`{} {}`", option, spec.placeholder);
}

// `as` is a word of the language.
std::string keyword_text(const SettingSpec& spec) {
  if (spec.key == "as") return "`as_`";
  return spec.key == "layers" ? "always: `Prediction.layers`" : fmt::format("`{}`", spec.key);
}

std::string page_of(const MainWindow& window) {
  std::string page =
      "# Settings, one by one\n\n"
      "A setting is called the same everywhere: `memory_limit` is a key of scenarios\n"
      "([scenarios.md](scenarios.md)) and a keyword in Python, `--memory-limit` on the command "
      "line,\n"
      "and *Memory limit* in the window. All read one table, and this page is written from it. "
      "What\n"
      "each is for, `strata COMMAND --help` and a field's tooltip say. A setting that goes with no "
      "job\n"
      "of a scenario has `-` there.\n\n"
      "| setting | command line | jobs of a scenario | window | Python |\n|---|---|---|---|---|\n";
  for (const SettingSpec& spec : settings()) {
    const auto* const none = std::ranges::find(kNoField, spec.key, &NoField::key);
    const QWidget* const field = window.findChild<QWidget*>(
        QString::fromUtf8(spec.key.data(), static_cast<qsizetype>(spec.key.size())));
    const std::string place = none != kNoField.end()                   ? std::string(none->instead)
                              : is_of_window(spec) && field != nullptr ? place_of(*field)
                                                                       : "-";
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", spec.key, option_text(spec),
                        jobs_text(spec), place, keyword_text(spec));
  }
  page +=
      "\nWhat-ifs (`--set KEY=VALUE`, `[sweep.set]`, *Any what-if* in the What if view) are in\n"
      "[clusters.md](clusters.md).\n\n| what-if | its values |\n|---|---|\n";
  for (const WhatIfSpec& spec : what_ifs()) {
    page += fmt::format("| `{}` | {} |\n", spec.key, values_text(spec));
  }
  return page;
}

TEST_F(SettingsTest, ThePageOfSettingsIsThatOfTheTable) {
  const std::string path = source_path("docs/settings.md");
  const std::string page = page_of(*window_);
  const char* const accept = std::getenv("STRATA_ACCEPT");
  if (accept != nullptr && std::string_view(accept) == "1") {
    write_file_whole(path, page);
    FAIL() << path << " is written anew; nothing was compared";
  }
  EXPECT_EQ(read_file(path), page) << "STRATA_ACCEPT=1 writes it anew";
}

}  // namespace
}  // namespace strata::gui
