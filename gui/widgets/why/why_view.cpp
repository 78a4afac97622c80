#include "gui/widgets/why/why_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/document/document_settings.h"
#include "gui/models/network/solve_rest.h"
#include "gui/models/text.h"
#include "gui/widgets/why/cost_bars.h"

namespace strata::gui {
namespace {

// "Of its communication 3.2 ms is exposed: the transfer from pool5 to fc6 (3 ms)."
QString exposures_text(const Graph& graph, const Explanation& explanation) {
  if (explanation.exposures.empty()) return WhyView::tr("It communicates with no other device.");
  Seconds exposed;
  QStringList most;
  for (const Exposure& part : explanation.exposures) {
    exposed += part.exposed;
    if (part.exposed <= Seconds{}) continue;
    most << QStringLiteral("%1 (%2)").arg(QString::fromStdString(what(graph, part)),
                                          human_seconds(part.exposed));
  }
  if (most.isEmpty()) return WhyView::tr("All its communication is hidden.");
  return WhyView::tr("Of its communication %1 is exposed: %2.")
      .arg(human_seconds(exposed), most.join(QStringLiteral(", ")).toHtmlEscaped());
}

}  // namespace

WhyView::WhyView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("why"), tr("Why"), workspace, parent),
      title_(new QLabel(this)),
      story_(new QLabel(this)),
      parts_(new PartsBars(this)),
      of_layer_(new QWidget(this)),
      table_(new FittedTable(
          &choices_,
          {ChoiceTable::binding_column, ChoiceTable::costs_column, ChoiceTable::config_column},
          this)) {
  make_table();
  auto* body = new QWidget(this);
  for (QLabel* label : {title_, story_}) {
    label->setMargin(10);
    label->setWordWrap(true);
    label->setTextFormat(Qt::RichText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  story_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  story_->setToolTip(
      tr("Sums of gradients keep replicas the same. Sums of statistics are what shards of a batch "
         "norm add up over all samples, so that each normalises by the same mean and variance."));
  auto* of_layer = make_column(of_layer_);
  of_layer->addWidget(title_);
  of_layer->addWidget(table_, 1);
  of_layer->addWidget(new Legend(cost_legend(), of_layer_));
  QWidget* const foot = make_foot();
  of_layer->addWidget(foot);
  set_foot(foot);
  auto* column = make_column(body);
  column->addWidget(of_layer_, 1);
  column->addWidget(parts_);
  column->addWidget(story_, 1);
  set_content(body);
  body->setFocusProxy(table_);
  const auto changed = [this] {
    stale_ = true;
    when_seen([this] { ask(); });
  };
  connect(&workspace, &Workspace::scene_changed, this, changed);
  connect(&workspace, &Workspace::document_changed, this, [this] { notify({}); });
  connect(&selection(), &Selection::layers_changed, this, changed);
  show_story(nullptr);
  show_title();
}

void WhyView::make_table() {
  table_->setItemDelegateForColumn(ChoiceTable::costs_column, new CostBars(table_));
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->sortByColumn(ChoiceTable::step_column, Qt::AscendingOrder);
  table_->setFrameShape(QFrame::NoFrame);
  table_->setAccessibleName(tr("Cuts that the layer could have"));
  table_->installEventFilter(this);
  connect(table_, &FittedTable::row_picked, this, &WhyView::show_row);
}

QWidget* WhyView::make_foot() {
  auto* foot = new QWidget(this);
  auto* row = new QHBoxLayout(foot);
  row->setContentsMargins(10, 6, 10, 6);
  row->addStretch(1);
  neighbour_ = new QPushButton(tr("To that neighbour  (G)"), foot);
  neighbour_->setToolTip(tr("Asks the same of the layer with the largest transfer"));
  take_ = new QPushButton(tr("Take this cut  (T)"), foot);
  take_->setToolTip(tr("Cuts this layer so, and leaves the others as they are"));
  force_ = new QPushButton(tr("Force it, solve the rest  (Enter)"), foot);
  force_->setToolTip(
      tr("Cuts this layer so, locks it, and finds the best cuts for all others: the "
         "regret, exactly"));
  connect(neighbour_, &QPushButton::clicked, this, &WhyView::go_to_binding);
  connect(take_, &QPushButton::clicked, this, &WhyView::take);
  connect(force_, &QPushButton::clicked, this, &WhyView::force);
  for (QPushButton* button : {neighbour_, take_, force_}) {
    button->setMinimumWidth(button->sizeHint().width() + 20);
    row->addWidget(button);
  }
  return foot;
}

std::optional<LayerId> WhyView::asked_layer() const {
  if (!workspace().scene()) return std::nullopt;
  const Graph& graph = workspace().scene()->input.graph;
  for (const LayerId layer : selection().layers()) {
    if (layer() < graph.size() && !is_input(graph[layer].op)) return layer;
  }
  return std::nullopt;
}

void WhyView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (stale_) when_seen([this] { ask(); });
}

void WhyView::ask() {
  stale_ = false;
  const std::optional<LayerId> layer = asked_layer();
  if (layer) return ask_layer(*layer);
  show_answer(nullptr);
  ask_parts();
  ask_story();
}

// Known long before the story is.
void WhyView::ask_parts() {
  const ScenePtr scene = workspace().scene();
  if (!scene) return parts_->show_parts(nullptr);
  if (parts_->parts() && parts_->parts()->scene == scene) return parts_->setVisible(true);
  workspace().jobs().start(
      this, QStringLiteral("step parts"), tr("Adding up the step"),
      [this, scene](Progress&) -> Jobs::Show {
        return [this, parts = parts_of_step(scene)] {
          parts_->show_parts(parts);
          parts_->setVisible(choices_.explained() == nullptr);
        };
      },
      [this](const QString& message) { failed(message); });
}

void WhyView::ask_layer(LayerId layer) {
  workspace().jobs().start(
      this, QStringLiteral("why"), tr("Asking why"),
      [this, scene = workspace().scene(), layer](Progress& progress) -> Jobs::Show {
        return
            [this, answer = explained(scene, layer, progress.cancelled())] { show_answer(answer); };
      },
      [this](const QString& message) { failed(message); });
}

void WhyView::ask_story() {
  const ScenePtr scene = workspace().scene();
  if (!scene || (told_ && told_->scene == scene)) {
    workspace().jobs().cancel(QStringLiteral("why"));
    return show_story(scene ? told_ : nullptr);
  }
  show_story(nullptr);
  workspace().jobs().start(
      this, QStringLiteral("why"), tr("Asking why"),
      [this, scene](Progress& progress) -> Jobs::Show {
        return [this, answer = told(scene, progress.cancelled())] {
          const CaseRequest& input = answer->scene->document.input;
          workspace().scoreboard().add({input, answer->story.lower_bound});
          show_story(answer);
        };
      },
      [this](const QString& message) { failed(message); });
}

void WhyView::failed(const QString& message) {
  notify(message);
  in_error_ = true;
}

void WhyView::show_answer(const ExplainedPtr& answer) {
  const ChoiceCosts* before = current();
  const std::optional<Degrees> degrees =
      before == nullptr ? std::nullopt : std::optional(before->config.degrees);
  choices_.set_explained(answer);
  if (std::exchange(in_error_, false)) notify({});
  if (answer) {
    const auto& chosen = answer->explanation.chosen;
    int row = degrees ? row_of(*degrees) : -1;
    if (row < 0 && chosen) row = row_of(answer->explanation.choices[*chosen].config.degrees);
    table_->selectRow(std::max(row, 0));
  }
  show_title();
  show_row();
}

// Each sentence a paragraph; of the other strategies, after the strategy's own.
void WhyView::show_story(const ToldPtr& told) {
  told_ = told;
  if (std::exchange(in_error_, false)) notify({});
  QString text;
  if (told) {
    const Story& story = told->story;
    text = tr("<b>%1</b>").arg(QString::fromStdString(story.strategy.name()).toHtmlEscaped());
    for (const std::string& sentence : sentences(told->scene->input, story)) {
      text += QStringLiteral("<p>%1</p>").arg(in_symbols(sentence).toHtmlEscaped());
    }
  }
  if (!told && workspace().scene()) text = QStringLiteral("<p>%1</p>").arg(tr("Asking why…"));
  const QString hint = tr("Select a layer to see why it is cut as it is.");
  story_->setText(text + QStringLiteral("<p><i>%1</i></p>").arg(hint));
}

void WhyView::show_title() {
  const ExplainedPtr& answer = choices_.explained();
  of_layer_->setVisible(answer != nullptr);
  story_->setVisible(answer == nullptr);
  parts_->setVisible(answer == nullptr && parts_->parts() != nullptr);
  show_instead(workspace().document().empty()
                   ? tr("No network yet.\nOpen one to ask why it is cut so.")
                   : QString());
  if (!answer) return;
  const Graph& graph = answer->scene->input.graph;
  const Strategy& strategy = answer->scene->prediction.strategy;
  QStringList others;
  for (const LayerId layer : answer->explanation.layers) {
    if (layer != answer->layer) others << QString::fromStdString(graph[layer].name);
  }
  QString text =
      tr("<b>%1</b>, %2, is cut as <b>%3</b>")
          .arg(QString::fromStdString(graph[answer->layer].name).toHtmlEscaped(),
               QString::fromUtf8(name(graph[answer->layer].op).data(),
                                 static_cast<qsizetype>(name(graph[answer->layer].op).size())),
               human_config(graph, answer->layer, strategy[answer->layer]).toHtmlEscaped());
  if (!others.isEmpty()) {
    text += tr(", together with %1").arg(others.join(QStringLiteral(", ")).toHtmlEscaped());
  }
  const Explanation& explanation = answer->explanation;
  text += tr(". A step takes %1").arg(human_seconds(explanation.step));
  if (const auto other = explanation.best_other()) {
    const ChoiceCosts& best = explanation.choices[*other];
    const QString own = human_seconds(explanation.step), step = human_seconds(best.step);
    text += tr("; with its next best cut, %1, it takes %2")
                .arg(human_config(graph, answer->layer, best.config).toHtmlEscaped(),
                     step == own ? tr("as long") : step);
  }
  text += QStringLiteral(". ") + exposures_text(graph, explanation);
  text += tr(" Under Eq. 1 a step takes %1; the least that any strategy takes is %2.")
              .arg(human_seconds(answer->scene->prediction.eq1_seconds()),
                   human_seconds(explanation.optimum));
  if (!answer->explanation.chosen) text += tr(" No search considers its cut.");
  title_->setText(text);
}

int WhyView::row_of(const Degrees& degrees) const {
  for (int row = 0; row < choices_.rowCount(); ++row) {
    if (choices_.choice(row).config.degrees == degrees) return row;
  }
  return -1;
}

const ChoiceCosts* WhyView::current() const {
  const std::optional<int> row = table_->picked();
  return row && choices_.explained() ? &choices_.choice(*row) : nullptr;
}

void WhyView::show_row() {
  const ChoiceCosts* choice = current();
  force_->setEnabled(choice != nullptr);
  take_->setEnabled(choice != nullptr);
  neighbour_->setEnabled(choice != nullptr && choice->binding.valid());
}

// What one does in a WhyView: take a cut, force it, go on to its neighbour.

void WhyView::take() {
  const ChoiceCosts* choice = current();
  if (choice == nullptr) return;
  workspace().set_config(choices_.explained()->explanation.layers, choice->configs);
}

void WhyView::force() {
  const ChoiceCosts* choice = current();
  if (choice == nullptr) return;
  const Explanation& explanation = choices_.explained()->explanation;
  const QString cut = human_config(choices_.explained()->scene->input.graph,
                                   choices_.explained()->layer, choice->config);
  solve_rest(
      workspace(), this, {{explanation.layers, choice->configs}, Objective::eq1},
      [this, cut, regret = choice->regret, optimum = explanation.optimum](const SolvedRest& found) {
        tell_regret(found, cut, regret, optimum);
      },
      [this](const QString& message) { notify(message); });
}

// With other layers locked the answer costs more than the regret alone.
void WhyView::tell_regret(const SolvedRest& found, const QString& cut, Seconds regret,
                          Seconds optimum) {
  const Seconds more = found.seconds - optimum;
  QString text = tr("Forced %1 and solved the rest: %2 under Eq. 1, %3 more than the optimum.")
                     .arg(cut, human_seconds(found.seconds),
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
  std::string command =
      "strata explain " + case_arguments(document) +
      strategy_argument(document, workspace().strategy_file(document)) +
      setting_options(document, {"degrees", "reductions", "placement", "free_elementwise"});
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
