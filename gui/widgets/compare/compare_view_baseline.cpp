// What the scene is compared with.

#include <QFileDialog>
#include <array>
#include <utility>

#include "gui/widgets/compare/compare_view.h"

namespace strata::gui {
namespace {

constexpr std::array<const char*, 5> kUsual = {"data", "model", "owt", "eq1", "optimal"};

bool same_case(const Document& a, const Document& b) {
  return a.input.model == b.input.model && a.input.cluster == b.input.cluster &&
         case_arguments(a) == case_arguments(b);
}

}  // namespace

QString CompareView::command() const {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !same_case(scene->document, baseline->document)) return {};
  const auto strategy = [](const Scene& side, const std::string& file) {
    const StrategyChoice& choice = side.document.strategy;
    return shell_quoted(choice.edited() ? file : choice.source);
  };
  return QString::fromStdString("strata diff " + strategy(*baseline, "baseline.json") + " " +
                                strategy(*scene, workspace().strategy_file(scene->document)) +
                                " --model " + case_arguments(scene->document));
}

bool CompareView::open(const QString& file) {
  if (!file.endsWith(QLatin1String(".json")) || workspace().document().empty()) return false;
  opening_ = file;
  set_strategy_baseline(file.toStdString());
  return true;
}

// It could be read, now that something is predicted of it.
void CompareView::say_opened() {
  const ScenePtr& baseline = workspace().baseline();
  if (opening_.isEmpty() || !baseline) return;
  if (baseline->document.strategy.source != opening_.toStdString()) return;
  emit opened(std::exchange(opening_, QString()));
}

void CompareView::choose_baseline(int index) {
  choice_->setCurrentIndex(-1);
  if (workspace().document().empty()) return;
  const auto usual = static_cast<std::size_t>(index);
  if (usual < kUsual.size()) return set_strategy_baseline(kUsual[usual]);
  if (usual == kUsual.size()) return workspace().pin_baseline();
  const QString file = QFileDialog::getOpenFileName(this, tr("A strategy to compare with"), {},
                                                    tr("Strategies (*.json)"));
  if (!file.isEmpty()) open(file);
}

void CompareView::set_strategy_baseline(const std::string& source) {
  Document other = workspace().document();
  other.strategy = {source, {}};
  workspace().set_baseline(other);
}

}  // namespace strata::gui
