// What clicks and keys do to the drawn cluster, and what it tells of what is under the mouse.

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/cluster/cluster_canvas.h"

namespace strata::gui {
namespace {

QString html_of(const std::string& name) {
  return QString::fromStdString(name).toHtmlEscaped();
}

}  // namespace

QString ClusterCanvas::words_for(LinkId id) const {
  const Link& link = scene_->input.cluster[id];
  QString words = QStringLiteral("<b>%1</b>").arg(html_of(link.name));
  if (link.bandwidth < kNoLimit) words += QStringLiteral("<br>") + human_rate(link.bandwidth);
  words += QStringLiteral(", %1").arg(human_seconds(link.latency));
  if (id() < use_.bytes.size()) {
    words += tr("<br>%1, %2 of what it could carry")
                 .arg(human_bytes({std::llround(use_.bytes[id()])}), human_share(use_.share[id()]));
  }
  return words;
}

QString ClusterCanvas::tip_of(const MapNode& node) const {
  QString words = QStringLiteral("<b>%1</b>").arg(html_of(node.name));
  for (const DeviceId id : node.devices) {
    const Device& device = scene_->input.cluster[id];
    if (node.kind == MapNodeKind::device) {
      words += tr("<br>kind %1, speed %2<br>computes %3 of a step<br>peak memory %4")
                   .arg(html_of(device.kind))
                   .arg(device.speed)
                   .arg(human_share(scene_->use.devices[id()]),
                        human_bytes(scene_->prediction.peak_memory[id()]));
    }
  }
  if (node.kind == MapNodeKind::host) {
    words += QStringLiteral("<br>") + counted(node.devices.size(), tr("device"));
    words += by_ == LinkColour::use
                 ? tr("<br>its most used inner link: %1").arg(human_share(value(node.inside)))
                 : tr("<br>the most over an inner link: %1")
                       .arg(human_bytes({std::llround(value(node.inside))}));
  }
  return words;
}

QString ClusterCanvas::tip_at(const QPointF& at) const {
  if (const auto node = node_at(at)) return tip_of(map_.nodes[*node]);
  if (const auto link = link_at(at))
    return words_for(*link) + tr("<br>Double click or Enter: another bandwidth");
  return {};
}

void ClusterCanvas::click(const QPointF& at, Qt::KeyboardModifiers /*modifiers*/) {
  if (const auto node = node_at(at)) {
    const auto& devices = map_.nodes[*node].devices;
    if (!devices.empty()) emit device_clicked(devices.front());
    return;
  }
  const auto link = link_at(at);
  emit link_clicked(link);
  if (!link) emit device_clicked(std::nullopt);
}

void ClusterCanvas::double_click(const QPointF& at) {
  if (node_at(at)) return;
  if (const auto link = link_at(at)) emit bandwidth_wanted(*link, at.toPoint());
}

void ClusterCanvas::pick_for_menu(const QPointF& at) {
  if (node_at(at) || link_at(at)) click(at, Qt::NoModifier);
}

QPointF ClusterCanvas::current_place() const {
  if (link_) return place_of(*link_);
  return device_ ? place_of(*device_) : room().center();
}

// To the next link that is drawn.
void ClusterCanvas::walk(int by) {
  std::vector<LinkId> drawn;
  for (const MapEdge& edge : map_.edges) {
    drawn.insert(drawn.end(), edge.there.begin(), edge.there.end());
    drawn.insert(drawn.end(), edge.back.begin(), edge.back.end());
  }
  if (drawn.empty()) return;
  std::sort(drawn.begin(), drawn.end());
  const auto count = static_cast<std::ptrdiff_t>(drawn.size());
  auto at = link_ ? std::find(drawn.begin(), drawn.end(), *link_) - drawn.begin()
                  : (by > 0 ? count - 1 : 0);
  at = (at + by + count) % count;
  emit link_clicked(drawn[static_cast<std::size_t>(at)]);
}

bool ClusterCanvas::link_key(int key) {
  switch (key) {
    case Qt::Key_Down:
    case Qt::Key_Period:
      walk(1);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Comma:
      walk(-1);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (link_) emit bandwidth_wanted(*link_, place_of(*link_).toPoint());
      return true;
    default:
      return false;
  }
}

bool ClusterCanvas::time_key(int key, bool whole) {
  switch (key) {
    case Qt::Key_Left:
      emit scrubbed(whole ? -1 : -0.1);
      return true;
    case Qt::Key_Right:
      emit scrubbed(whole ? 1 : 0.1);
      return true;
    case Qt::Key_Escape:
      emit all_wanted();
      return true;
    default:
      return false;
  }
}

bool ClusterCanvas::take_key(const QKeyEvent& event) {
  const bool whole = (event.modifiers() & Qt::ShiftModifier) != 0;
  return link_key(event.key()) || time_key(event.key(), whole);
}

}  // namespace strata::gui
