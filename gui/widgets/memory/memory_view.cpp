#include "gui/widgets/memory/memory_view.h"

#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"

namespace strata::gui {
namespace {

constexpr auto kMemoryLane = "memory";

}  // namespace

MemoryView::MemoryView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("memory"), tr("Memory"), workspace, parent) {
  auto* splitter = new QSplitter(Qt::Horizontal, this);
  canvas_ = new MemoryCanvas;
  splitter->addWidget(canvas_);
  splitter->addWidget(make_tensors());
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  set_content(splitter);
  splitter->setFocusProxy(canvas_);
  follow();
  refresh();
}

QWidget* MemoryView::make_tensors() {
  auto* side = new QWidget;
  auto* layout = new QVBoxLayout(side);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  heading_ = new QLabel;
  heading_->setContentsMargins(8, 5, 8, 5);
  heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  model_ = new TensorTable(this);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(Qt::UserRole);
  table_ = new QTableView;
  table_->setModel(sorted_);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->setFrameShape(QFrame::NoFrame);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->setSortingEnabled(true);
  table_->sortByColumn(TensorTable::kBytes, Qt::DescendingOrder);
  layout->addWidget(heading_);
  layout->addWidget(table_, 1);
  return side;
}

void MemoryView::follow() {
  connect(&workspace(), &Workspace::scene_changed, this, &MemoryView::refresh);
  connect(&selection(), &Selection::range_changed, this,
          [this] { canvas_->set_range(selection().range()); });
  connect(&selection(), &Selection::device_changed, this, [this] {
    const auto device = selection().device();
    const auto selected = canvas_->selected();
    if (!picture_ || !device || (selected && selected->device == *device)) return;
    canvas_->select(canvas_->peak_of(*device));
    show_moment();
  });
  connect(canvas_, &MemoryCanvas::range_picked, this,
          [this] { selection().select_range(canvas_->range()); });
  connect(canvas_, &MemoryCanvas::picked, this, [this] {
    show_moment();
    if (const auto picked = canvas_->selected()) selection().select_device(picked->device);
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) on_row(sorted_->mapToSource(now).row());
          });
}

void MemoryView::refresh() {
  if (!workspace().error().isEmpty()) return notify(workspace().error());
  notify({});
  const ScenePtr scene = workspace().scene();
  if (!scene) return show_picture(nullptr);
  workspace().jobs().start(
      QLatin1String(kMemoryLane), tr("Adding up memory"),
      [this, scene](Progress&) -> Jobs::Show {
        return [this, picture = picture_memory(scene)] { show_picture(picture); };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

// At the same device as before, the fullest one at first.
void MemoryView::show_picture(const std::shared_ptr<const MemoryPicture>& picture) {
  const auto before = canvas_->selected();
  picture_ = picture;
  canvas_->set_hint(workspace().document().empty()
                        ? tr("Open a network on a cluster to see what its devices keep in memory.")
                        : tr("Memory is being added up."));
  canvas_->show_picture(picture);
  if (picture) {
    const bool known = before && before->device() < picture->stacks.size();
    canvas_->select(canvas_->peak_of(known ? before->device : canvas_->fullest()));
    canvas_->set_range(selection().range());
  }
  show_moment();
}

void MemoryView::show_moment() {
  const auto moment = canvas_->selected();
  if (!picture_ || !moment) {
    model_->show(nullptr, {}, 0);
    return heading_->setText({});
  }
  model_->show(picture_->scene, moment->device, moment->at);
  const bool peak = *moment == canvas_->peak_of(moment->device);
  heading_->setText(
      tr("%1 %2 %3: %4 in %5")
          .arg(QString::fromStdString(device_label(picture_->scene->input.cluster, moment->device)),
               peak ? tr("at its peak,") : tr("at"), human_seconds({moment->at}),
               human_bytes(model_->total()),
               model_->rowCount() == 1 ? tr("one tensor")
                                       : tr("%1 tensors").arg(model_->rowCount())));
  heading_->setToolTip(heading_->text());
}

void MemoryView::on_row(int row) {
  selection().select_layers({model_->layer(row)});
}

QString MemoryView::command() const {
  if (workspace().document().empty()) return {};
  const Document& document = workspace().document();
  return QStringLiteral("strata predict ") + QString::fromStdString(case_arguments(document)) +
         QString::fromStdString(strategy_argument(document)) + QStringLiteral(" --json");
}

QString MemoryView::csv() const {
  return model_->rowCount() == 0 ? QString() : QString::fromStdString(model_->csv());
}

std::vector<KeyHelp> MemoryView::keys() const {
  return {{tr("Click"), tr("The tensors of that moment; near the mark, of the peak")},
          {tr("P"), tr("To the device's peak")},
          {tr("↑, ↓"), tr("The device above or below")},
          {tr(". ,"), tr("To the next and previous change")},
          {tr("W, S, A, D"), tr("Zoom and move; Ctrl+wheel and Shift+wheel, too")},
          {tr("F"), tr("Fit the range; once more: all")},
          {tr("Drag"), tr("Measure a stretch of time")}};
}

}  // namespace strata::gui
