#include "gui/widgets/memory/memory_view.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/widgets/legend.h"

namespace strata::gui {
namespace {

constexpr auto kMemoryLane = "memory";

std::vector<LegendEntry> memory_legend() {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kMemoryUseKinds; ++i) {
    const auto kind = static_cast<MemoryUseKind>(i);
    entries.push_back({QString::fromStdString(std::string(name(kind))),
                       [kind](const Theme& theme) { return colour_of(kind, theme); }});
  }
  return entries;
}

/// Before what a tensor is, its colour in the picture.
class TensorColour : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const auto use = index.data(TensorTable::kUseRole);
    if (!use.isValid()) return;
    QPixmap square(10, 10);
    square.fill(colour_of(static_cast<MemoryUseKind>(use.toInt()), theme_of(option->palette)));
    option->icon = square;
    option->decorationSize = square.size();
    option->features |= QStyleOptionViewItem::HasDecoration;
  }
};

}  // namespace

MemoryView::MemoryView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("memory"), tr("Memory"), workspace, parent) {
  auto* content = new QWidget(this);
  auto* layout = make_column(content);
  auto* splitter = new QSplitter(Qt::Horizontal);
  canvas_ = new MemoryCanvas;
  splitter->addWidget(canvas_);
  splitter->addWidget(make_tensors());
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  layout->addWidget(make_bar());
  layout->addWidget(splitter, 1);
  set_content(content);
  content->setFocusProxy(canvas_);
  follow();
  refresh();
}

QWidget* MemoryView::make_bar() {
  auto* bar = new QWidget;
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(2, 3, 8, 3);
  scale_ = make_toggle(tr("Up to the capacity"),
                       tr("The picture is as high as the capacity, else as the highest peak (C)"),
                       false);
  layout->addWidget(new Legend(memory_legend()), 1);
  layout->addWidget(scale_, 0, Qt::AlignTop);
  return bar;
}

QWidget* MemoryView::make_tensors() {
  auto* side = new QWidget;
  auto* layout = make_column(side);
  heading_ = new ElidedLabel;
  auto* heading_row = new QHBoxLayout;
  heading_row->setContentsMargins(8, 5, 8, 5);
  heading_row->addWidget(heading_);
  model_ = new TensorTable(this);
  table_ = new FittedTable(model_, {TensorTable::kLayer});
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setFrameShape(QFrame::NoFrame);
  table_->sortByColumn(TensorTable::kBytes, Qt::DescendingOrder);
  table_->setItemDelegateForColumn(TensorTable::kWhat, new TensorColour(table_));
  layout->addLayout(heading_row);
  layout->addWidget(table_, 1);
  return side;
}

void MemoryView::follow() {
  connect(&workspace(), &Workspace::scene_changed, this,
          [this] { when_seen([this] { refresh(); }); });
  connect(&selection(), &Selection::range_changed, this,
          [this] { canvas_->set_range(selection().range()); });
  connect(&selection(), &Selection::device_changed, this, [this] {
    const auto device = selection().device();
    const auto selected = canvas_->selected();
    const bool known = picture_ && device && (*device)() < picture_->stacks.size();
    if (!known || (selected && selected->device == *device)) return;
    canvas_->select(canvas_->peak_of(*device));
    show_moment();
  });
  connect(canvas_, &MemoryCanvas::range_picked, this,
          [this] { selection().select_range(canvas_->range()); });
  connect(canvas_, &MemoryCanvas::picked, this, [this] {
    show_moment();
    if (const auto picked = canvas_->selected()) selection().select_device(picked->device);
  });
  connect(canvas_, &MemoryCanvas::scale_changed, this, &MemoryView::show_scale);
  connect(scale_, &QToolButton::clicked, this, [this](bool whole) {
    canvas_->set_scale(whole ? MemoryScale::capacity : MemoryScale::peak);
  });
  connect(table_, &FittedTable::row_picked, this,
          [this](int row) { selection().select_layers({model_->layer(row)}); });
}

void MemoryView::show_scale() {
  scale_->setChecked(canvas_->scale() == MemoryScale::capacity);
}

void MemoryView::refresh() {
  if (!workspace().error().isEmpty()) return;
  notify({});
  const ScenePtr scene = workspace().scene();
  if (!scene) return show_picture(nullptr);
  workspace().jobs().start(
      this, QLatin1String(kMemoryLane), tr("Adding up memory"),
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
  show_scale();
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
}

QString MemoryView::command() const {
  return predict_command(" --json");
}

QString MemoryView::csv() const {
  return model_->rowCount() == 0 ? QString() : QString::fromStdString(model_->csv());
}

std::vector<KeyHelp> MemoryView::keys() const {
  return {{tr("Click"), tr("The tensors of that moment; near the mark, of the peak")},
          {tr("P"), tr("To the device's peak")},
          {tr("C"), tr("As high as the capacity, or as the highest peak")},
          {tr("↑, ↓"), tr("The device above or below")},
          {tr(". ,"), tr("To the next and previous change")},
          {tr("W, S, A, D"), tr("Zoom and move; Ctrl+wheel, Shift+wheel and Shift+drag, too")},
          {tr("F"), tr("Fit the range; once more: the step, then all")},
          {tr("Drag"), tr("Measure a stretch of time")},
          {tr("Esc"), tr("Measure nothing")}};
}

}  // namespace strata::gui
