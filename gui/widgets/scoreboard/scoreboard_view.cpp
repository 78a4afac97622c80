#include "gui/widgets/scoreboard/scoreboard_view.h"

#include <QApplication>
#include <QHBoxLayout>
#include <algorithm>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

// On the same case, what-ifs and all: a factor against another machine says nothing of a strategy.
std::optional<Seconds> step_of_data(const TriedCase& tried) {
  for (const TriedStrategy& strategy : tried.strategies) {
    if (strategy.choice == StrategyChoice{} && strategy.result.step_seconds) {
      return Seconds{*strategy.result.step_seconds};
    }
  }
  return std::nullopt;
}

}  // namespace

ScoreboardView::ScoreboardView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("scoreboard"), tr("Scoreboard"), workspace, parent) {
  auto* body = new QWidget(this);
  auto* column = make_column(body);
  make_table();
  column->addWidget(table_, 1);
  QWidget* const foot = make_foot();
  column->addWidget(foot);
  set_foot(foot);
  set_content(body);
  body->setFocusProxy(table_);
  bind_keys();
  follow();
  show_scores();
}

void ScoreboardView::make_table() {
  scores_ = new ScoreTable(this);
  table_ = new FittedTable(scores_, {ScoreTable::strategy}, this);
  table_->setFrameShape(QFrame::NoFrame);
  table_->sortByColumn(ScoreTable::step, Qt::AscendingOrder);
  table_->setAccessibleName(tr("Strategies that were tried"));
  // One with Ctrl or Shift adds to what is picked.
  connect(table_, &QTableView::clicked, this, [this] {
    if (QApplication::keyboardModifiers() == Qt::NoModifier) take();
  });
}

QWidget* ScoreboardView::make_foot() {
  auto* foot = new QWidget(this);
  auto* row = new QHBoxLayout(foot);
  row->setContentsMargins(10, 6, 10, 6);
  bound_ = new QLabel(foot);
  bound_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  take_ = new QPushButton(tr("Take it  (Enter)"), foot);
  take_->setToolTip(tr("Cuts the network so: one step of undo"));
  remove_ = new QPushButton(tr("Remove  (Del)"), foot);
  remove_->setToolTip(tr("Takes the picked rows from the scoreboard; the network stays as it is"));
  row->addWidget(bound_, 1);
  row->addWidget(take_);
  row->addWidget(remove_);
  connect(take_, &QPushButton::clicked, this, &ScoreboardView::take);
  connect(remove_, &QPushButton::clicked, this, &ScoreboardView::remove);
  return foot;
}

void ScoreboardView::bind_keys() {
  const auto on_key = [this](Qt::Key key, void (ScoreboardView::*action)()) {
    add_key(
        key, [this, action] { (this->*action)(); }, table_, Qt::WidgetShortcut);
  };
  on_key(Qt::Key_Return, &ScoreboardView::take);
  on_key(Qt::Key_Enter, &ScoreboardView::take);
  on_key(Qt::Key_Delete, &ScoreboardView::remove);
}

void ScoreboardView::follow() {
  const auto changed = [this] { when_seen([this] { show_scores(); }); };
  connect(&workspace().scoreboard(), &Scoreboard::changed, this, changed);
  connect(&workspace(), &Workspace::document_changed, this, changed);
  connect(&workspace(), &Workspace::scene_changed, this, changed);
  connect(&workspace(), &Workspace::baseline_changed, this, changed);
}

// The scene's, as in all views: null where nothing is predicted yet.
const CaseRequest* ScoreboardView::shown_case() const {
  const ScenePtr& scene = workspace().scene();
  return scene ? &scene->document.input : nullptr;
}

void ScoreboardView::show_scores() {
  notify({});
  const CaseRequest* const input = shown_case();
  show_instead(input == nullptr ? tr("No strategy was tried yet.\nOpen a network on a cluster.")
                                : QString());
  const TriedCase* const tried = input == nullptr ? nullptr : workspace().scoreboard().find(*input);
  ScoreContext context{workspace().document().strategy};
  if (tried != nullptr) {
    context.baseline = step_of_data(*tried);
    context.lower_bound = tried->lower_bound;
  }
  show_bound(context.lower_bound);
  scores_->show(std::move(context),
                tried == nullptr ? std::vector<TriedStrategy>() : tried->strategies);
  if (const auto row = scores_->chosen_row()) table_->pick(*row);
  for (QPushButton* button : {take_, remove_}) button->setEnabled(scores_->rowCount() > 0);
}

void ScoreboardView::show_bound(Seconds lower_bound) {
  const QString text =
      lower_bound.value > 0
          ? tr("No strategy that the search considers sustains a step below %1: a device computes "
               "for that long")
                .arg(human_seconds(lower_bound))
          : tr("Find fastest (Ctrl+Return) proves how far from the fastest these are at most");
  bound_->setText(text);
  bound_->setToolTip(text);
}

// A strategy's cuts are of the case that it was tried on.
void ScoreboardView::take() {
  const std::optional<int> row = table_->picked();
  const CaseRequest* const input = shown_case();
  if (!row || input == nullptr) return;
  if (workspace().document().input != *input) {
    return notify(tr("No strategy is taken: what was changed before is not predicted yet."));
  }
  workspace().set_strategy(scores_->rows()[static_cast<std::size_t>(*row)].choice);
}

void ScoreboardView::remove() {
  const CaseRequest* const input = shown_case();
  if (input == nullptr) return;
  std::vector<TriedStrategy> gone;
  for (const std::size_t row : table_->picked_rows()) gone.push_back(scores_->rows()[row]);
  if (!gone.empty()) workspace().scoreboard().remove(*input, gone);
}

// Of those that have a name that a command knows.
QString ScoreboardView::command() const {
  if (shown_case() == nullptr) return {};
  QStringList names;
  for (const TriedStrategy& row : scores_->rows()) {
    if (!row.choice.edited()) names << QString::fromStdString(row.choice.source);
  }
  if (names.isEmpty()) return {};
  names.removeDuplicates();
  return QString::fromStdString("strata predict " + case_arguments(workspace().scene()->document) +
                                " --strategy " +
                                shell_quoted(names.join(QLatin1Char(',')).toStdString()) +
                                simulation_options(workspace().scene()->document));
}

std::vector<KeyHelp> ScoreboardView::keys() const {
  return {{tr("Up, Down"), tr("from one strategy to the next")},
          {tr("Enter"), tr("take this strategy")},
          {tr("Del"), tr("remove the picked rows")}};
}

QString ScoreboardView::csv() const {
  return scores_->rows().empty() ? QString() : scores_->csv();
}

}  // namespace strata::gui
