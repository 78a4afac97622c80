#include "gui/widgets/why/why_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/why/cost_bars.h"

namespace strata::gui {

WhyView::WhyView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("why"), tr("Why"), workspace, parent),
      title_(new QLabel(this)),
      hint_(new QLabel(this)),
      table_(new QTableView(this)) {
  make_table();
  auto* body = new QWidget(this);
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  title_->setMargin(10);
  title_->setWordWrap(true);
  title_->setTextFormat(Qt::RichText);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(title_);
  column->addWidget(table_, 1);
  column->addWidget(hint_, 1);
  column->addWidget(new Legend(cost_legend(), body));
  column->addWidget(make_foot());
  set_content(body);
  body->setFocusProxy(table_);
  const auto changed = [this] {
    stale_ = true;
    when_seen([this] { ask(); });
  };
  connect(&workspace, &Workspace::scene_changed, this, changed);
  connect(&workspace, &Workspace::document_changed, this, [this] { notify({}); });
  connect(&selection(), &Selection::layers_changed, this, changed);
  show_title();
}

void WhyView::make_table() {
  sorted_.setSourceModel(&choices_);
  sorted_.setSortRole(ChoiceTable::plain);
  table_->setModel(&sorted_);
  table_->setItemDelegateForColumn(ChoiceTable::costs_column, new CostBars(table_));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setSortingEnabled(true);
  table_->sortByColumn(ChoiceTable::regret_column, Qt::AscendingOrder);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setFrameShape(QFrame::NoFrame);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 8);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setSectionResizeMode(ChoiceTable::costs_column, QHeaderView::Stretch);
  table_->horizontalHeader()->setMinimumSectionSize(
      table_->horizontalHeader()->sectionSizeHint(ChoiceTable::costs_column));
  table_->installEventFilter(this);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &WhyView::show_row);
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
  if (!layer) {
    workspace().jobs().cancel(QStringLiteral("why"));
    return show_answer(nullptr);
  }
  workspace().jobs().start(
      this, QStringLiteral("why"), tr("Asking why"),
      [this, scene = workspace().scene(), layer = *layer](Progress&) -> Jobs::Show {
        return [this, answer = explained(scene, layer)] { show_answer(answer); };
      },
      [this](const QString& message) {
        notify(message);
        in_error_ = true;
      },
      WhenStale::show);
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

void WhyView::show_title() {
  const ExplainedPtr& answer = choices_.explained();
  table_->setVisible(answer != nullptr);
  title_->setVisible(answer != nullptr);
  hint_->setVisible(answer == nullptr);
  hint_->setText(tr("Select a layer to see why it is cut as it is."));
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
               human_config(strategy[answer->layer]).toHtmlEscaped());
  if (!others.isEmpty()) {
    text += tr(", together with %1").arg(others.join(QStringLiteral(", ")).toHtmlEscaped());
  }
  text += tr(". Under Eq. 1 a step takes %1; the least that any strategy takes is %2.")
              .arg(human_seconds(answer->scene->prediction.eq1_seconds()),
                   human_seconds(answer->explanation.optimum));
  if (!answer->explanation.chosen) text += tr(" No search considers its cut.");
  title_->setText(text);
}

int WhyView::row_of(const Degrees& degrees) const {
  for (int row = 0; row < sorted_.rowCount(); ++row) {
    const int source = sorted_.mapToSource(sorted_.index(row, 0)).row();
    if (choices_.choice(source).config.degrees == degrees) return row;
  }
  return -1;
}

const ChoiceCosts* WhyView::current() const {
  const QModelIndex row = table_->currentIndex();
  if (!row.isValid() || !choices_.explained()) return nullptr;
  return &choices_.choice(sorted_.mapToSource(row).row());
}

void WhyView::show_row() {
  const ChoiceCosts* choice = current();
  force_->setEnabled(choice != nullptr);
  take_->setEnabled(choice != nullptr);
  neighbour_->setEnabled(choice != nullptr && choice->binding.valid());
}

}  // namespace strata::gui
