// What one does in a WhyView: take a cut, force it, go on to its neighbour.

#include <QKeyEvent>
#include <algorithm>

#include "gui/models/network/solve_rest.h"
#include "gui/models/text.h"
#include "gui/widgets/why/why_view.h"

namespace strata::gui {

void WhyView::take() {
  const ChoiceCosts* choice = current();
  if (choice == nullptr) return;
  workspace().set_config(choices_.explained()->explanation.layers, Config(choice->config));
}

void WhyView::force() {
  const ChoiceCosts* choice = current();
  if (choice == nullptr) return;
  const Explanation& explanation = choices_.explained()->explanation;
  const Config config = choice->config;
  solve_rest(
      workspace(), this, {{explanation.layers, config}, Objective::eq1},
      [this, config, regret = choice->regret, optimum = explanation.optimum](
          const SolvedRest& found) { tell_regret(found, config, regret, optimum); },
      [this](const QString& message) { notify(message); });
}

// With other layers locked the answer costs more than the regret alone.
void WhyView::tell_regret(const SolvedRest& found, const Config& config, Seconds regret,
                          Seconds optimum) {
  const Seconds more = found.seconds - optimum;
  QString text = tr("Forced %1 and solved the rest: %2 under Eq. 1, %3 more than the optimum.")
                     .arg(human_config(config), human_seconds(found.seconds),
                          human_seconds(Seconds{std::max(0.0, more.value)}));
  if ((more - regret).value > 1e-6 * optimum.value) {
    text += tr(" %1 of it are this cut's regret, the rest the other locked layers'.")
                .arg(human_seconds(regret));
  }
  notify(text);
}

void WhyView::go_to_binding() {
  const ChoiceCosts* choice = current();
  if (choice != nullptr && choice->binding.valid()) selection().select_layers({choice->binding});
}

bool WhyView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return View::eventFilter(watched, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return force(), true;
    case Qt::Key_T:
      return take(), true;
    case Qt::Key_G:
      return go_to_binding(), true;
    default:
      return false;
  }
}

QString WhyView::command() const {
  const ExplainedPtr& answer = choices_.explained();
  if (!answer && !told_) return {};
  const Document& document = answer ? answer->scene->document : told_->scene->document;
  std::string command = "strata explain " + case_arguments(document) +
                        strategy_argument(document, workspace().strategy_file(document));
  if (answer) {
    command += " --layer " + shell_quoted(answer->scene->input.graph[answer->layer].name);
  }
  return QString::fromStdString(command);
}

std::vector<KeyHelp> WhyView::keys() const {
  return {{tr("Up, Down"), tr("from one cut to the next")},
          {tr("Enter"), tr("force this cut, lock it, and solve the rest")},
          {QStringLiteral("T"), tr("take this cut, and leave the others as they are")},
          {QStringLiteral("G"), tr("ask the same of the neighbour with the largest transfer")}};
}

QString WhyView::csv() const {
  return choices_.explained() ? choices_.csv() : QString();
}

}  // namespace strata::gui
