// The timeline's part in the one selection that all views follow, and what it tells of it.

#include <QClipboard>
#include <QGuiApplication>
#include <optional>

#include "gui/models/compare/differences.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace strata::gui {

void TimelineView::on_search(const QString& text) {
  const std::size_t found = canvas_->search(text.toStdString());
  const QString count = found == 1 ? tr("one kind of task") : tr("%1 kinds of task").arg(found);
  found_->setText(text.isEmpty() ? QString() : count);
}

// While a successor is drawn, what is on the screen speaks of layers and devices that were.
bool TimelineView::is_current() const {
  return scene_.scene && scene_.scene == workspace().scene();
}

// The baseline may be of another network: its layers are those of the same names.
void TimelineView::show_layers() {
  const std::vector<LayerId>& layers = selection().layers();
  const auto in = [&](const ScenePtr& shown) {
    const ScenePtr& now = workspace().scene();
    return shown && now ? same_layers(*now, layers, *shown) : std::vector<LayerId>();
  };
  canvas_->set_layers(in(scene_.scene), in(baseline_.scene));
}

void TimelineView::on_picked() {
  tell(canvas_->selected());
  if (trace_) return;
  picking_ = true;
  const auto picked = canvas_->selected();
  if (!picked) {
    selection().select_task(std::nullopt);
    selection().select_layers({});
  } else if (is_current()) {
    select_slice(*picked);
  }
  picking_ = false;
}

void TimelineView::select_slice(SliceAddress picked) {
  if (picked.side == 1 && !baseline_.scene) return;
  const Recording& recording = *canvas_->recording(picked.side);
  const Slice& slice = recording.at(picked.place);
  const LayerId layer = recording.labels[slice.label].layer;
  const Scene& shown = picked.side == 0 ? *scene_.scene : *baseline_.scene;
  if (layer.valid()) selection().select_layers(same_layers(shown, {layer}, *scene_.scene));
  select_lane(recording.lanes[picked.place.lane].name(), picked.side);
  const bool knows_tasks = picked.side == 0 || kernels_;
  if (knows_tasks && recording.facts) selection().select_task(recording.facts->task(slice.id));
}

// Another cluster's devices and links have no place in this one.
void TimelineView::select_lane(const LaneName& lane, std::uint32_t side) {
  const bool same = side == 0 || (baseline_.scene && baseline_.scene->document.input.cluster ==
                                                         scene_.scene->document.input.cluster);
  if (same && lane.device) selection().select_device(lane.device);
  if (same && lane.link) selection().select_link(lane.link);
}

void TimelineView::on_row_picked(LaneRow row) {
  if (trace_ || !is_current()) return;
  select_lane(canvas_->recording(row.side)->lanes[row.lane].name(), row.side);
}

void TimelineView::on_range_picked() {
  if (trace_) return show_range();
  selection().select_range(canvas_->range());
}

void TimelineView::on_task_changed() {
  if (picking_ || trace_) return;
  const RecordingPtr& shown = canvas_->recording(0);
  if (!shown || !shown->facts || !is_current()) return;
  const auto task = selection().task();
  const auto id = task ? shown->facts->find(*task) : std::nullopt;
  canvas_->select(id ? std::optional(SliceAddress{0, shown->place(*id)}) : std::nullopt, true);
  tell(canvas_->selected());
}

void TimelineView::show_range() {
  range_panel_->show_range(canvas_->recording(0), canvas_->range());
  tell(canvas_->selected());
}

QStringList TimelineView::facts_of(const SliceAddress& slice) const {
  const Recording& shown = *canvas_->recording(slice.side);
  const Slice& at = shown.at(slice.place);
  QStringList facts;
  if (shown.place(at.id).valid() && shown.facts) {
    const double shift = canvas_->shift(slice.side);  // as the axis above has it
    for (const std::string& line : shown.facts->lines(at.id, shift)) {
      facts << QString::fromStdString(line);
    }
  } else {
    facts << QString::fromStdString(shown.labels[at.label].text);
  }
  return facts;
}

// What is under the mouse, else what is selected.
void TimelineView::tell(std::optional<SliceAddress> slice) {
  if (!slice) slice = canvas_->selected();
  status_->setText(slice ? facts_of(*slice).join(QStringLiteral("   ·   ")) : QStringLiteral(" "));
}

std::unique_ptr<QMenu> TimelineView::make_menu() {
  auto menu = std::make_unique<QMenu>();
  const auto slice = canvas_->selected();
  if (!slice) return menu;
  const Recording& shown = *canvas_->recording(slice->side);
  const LaneLabel& label = shown.labels[shown.at(slice->place).label];
  const QString name = QString::fromStdString(label.text);
  menu->addAction(tr("Zoom to it"), this, [this] { canvas_->zoom_to_selected(); });
  menu->addAction(tr("Measure its time"), this, [this] { canvas_->measure_selected(); });
  menu->addAction(tr("Search for %1").arg(name), this, [this, name] { search_->setText(name); });
  menu->addAction(tr("Pin its lane, or let it go"), this, [this] { canvas_->toggle_pin(); });
  menu->addSeparator();
  menu->addAction(tr("Copy what is known of it"), this, [text = facts_of(*slice)] {
    QGuiApplication::clipboard()->setText(text.join(QLatin1Char('\n')));
  });
  return menu;
}

}  // namespace strata::gui
