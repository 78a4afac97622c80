#include "gui/widgets/cluster/cluster_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr double kLineClick = 7;  // pixels to a line that is meant
constexpr double kApart = 3;      // between the two directions, to each side

QString name_of(const std::string& name) {
  return QString::fromStdString(name).toHtmlEscaped();
}

}  // namespace

ClusterCanvas::ClusterCanvas(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Cluster"));
}

void ClusterCanvas::show_map(ClusterMap map, ScenePtr scene) {
  const bool moved = map.bounds != map_.bounds;
  map_ = std::move(map);
  scene_ = std::move(scene);
  use_ = {};
  if (moved) fit();
  update();
}

void ClusterCanvas::show_use(LinkUse use) {
  use_ = std::move(use);
  most_bytes_ = 0;
  for (const double bytes : use_.bytes) most_bytes_ = std::max(most_bytes_, bytes);
  update();
}

void ClusterCanvas::colour_by(LinkColour by) {
  by_ = by;
  update();
}

void ClusterCanvas::select(std::optional<LinkId> link, std::optional<DeviceId> device) {
  link_ = link;
  device_ = device;
  update();
}

// The legend keeps the lowest line for itself.
void ClusterCanvas::fit() {
  fitted_ = true;
  const QRectF free = QRectF(rect()).adjusted(4, 4, -4, -2 * fontMetrics().height());
  if (map_.bounds.isEmpty() || free.isEmpty()) return;
  scale_ =
      std::min({free.width() / map_.bounds.width(), free.height() / map_.bounds.height(), 1.8});
  offset_ = free.center() - map_.bounds.center() * scale_;
  update();
}

QRectF ClusterCanvas::to_screen(const QRectF& box) const {
  return {to_screen(box.topLeft()), to_screen(box.bottomRight())};
}

// From the rim of one box to that of the other; each direction keeps to its side.
ClusterCanvas::Line ClusterCanvas::line_of(const MapEdge& edge, bool back) const {
  const QRectF from = to_screen(map_.nodes[edge.from].box), to = to_screen(map_.nodes[edge.to].box);
  QPointF a = from.center(), b = to.center();
  const QPointF along = b - a;
  const double length = std::hypot(along.x(), along.y());
  if (length < 1) return {a, b};
  const auto rim = [&](const QRectF& box) {
    const double x = std::abs(along.x()) < 1e-9 ? 1e9 : box.width() / 2 / std::abs(along.x());
    const double y = std::abs(along.y()) < 1e-9 ? 1e9 : box.height() / 2 / std::abs(along.y());
    return along * std::min(x, y);
  };
  const QPointF aside = QPointF(-along.y(), along.x()) / length * (back ? -kApart : kApart);
  a += rim(from) + aside;
  b += aside - rim(to);
  return back ? Line{b, a} : Line{a, b};
}

std::optional<LinkId> ClusterCanvas::link_at(const QPointF& at) const {
  const auto found = map_.edge_at(to_map(at), kLineClick / scale_);
  if (!found) return std::nullopt;
  const MapEdge& edge = map_.edges[*found];
  const QPointF a = map_.nodes[edge.from].box.center(),
                along = map_.nodes[edge.to].box.center() - a;
  const QPointF to = to_map(at) - a;
  const bool back = along.x() * to.y() - along.y() * to.x() < 0;
  const std::vector<LinkId>& links =
      (back ? !edge.back.empty() : edge.there.empty()) ? edge.back : edge.there;
  return *std::max_element(links.begin(), links.end(), [&](LinkId x, LinkId y) {
    return x() < use_.bytes.size() && y() < use_.bytes.size() && use_.bytes[x()] < use_.bytes[y()];
  });
}

QPointF ClusterCanvas::place_of(LinkId link) const {
  for (const MapEdge& edge : map_.edges) {
    for (const bool back : {false, true}) {
      const auto& links = back ? edge.back : edge.there;
      if (std::find(links.begin(), links.end(), link) == links.end()) continue;
      const Line line = line_of(edge, back);
      return (line.a + line.b) / 2;
    }
  }
  return {};
}

QPointF ClusterCanvas::place_of(DeviceId device) const {
  const auto node = map_.node_of(device);
  return node ? to_screen(map_.nodes[*node].box.center()) : QPointF();
}

double ClusterCanvas::heat_of(double share, double bytes) const {
  if (by_ == LinkColour::use) return share;
  return most_bytes_ > 0 ? bytes / most_bytes_ : 0;
}

double ClusterCanvas::heat(const std::vector<LinkId>& links) const {
  double most = 0;
  for (const LinkId link : links) {
    if (link() >= use_.bytes.size()) continue;
    most = std::max(most, heat_of(use_.share[link()], use_.bytes[link()]));
  }
  return most;
}

bool ClusterCanvas::holds(const std::vector<LinkId>& links) const {
  return link_ && std::find(links.begin(), links.end(), *link_) != links.end();
}

QString ClusterCanvas::words_for(LinkId id) const {
  const Link& link = scene_->input.cluster[id];
  QString words = QStringLiteral("<b>%1</b>").arg(name_of(link.name));
  if (link.bandwidth < kNoLimit) words += QStringLiteral("<br>") + human_rate(link.bandwidth);
  words += QStringLiteral(", %1").arg(human_seconds(link.latency));
  if (id() < use_.bytes.size()) {
    words += tr("<br>%1, %2 of what it could carry")
                 .arg(human_bytes({std::llround(use_.bytes[id()])}), human_share(use_.share[id()]));
  }
  return words;
}

QString ClusterCanvas::tip_of(const MapNode& node) const {
  QString words = QStringLiteral("<b>%1</b>").arg(name_of(node.name));
  for (const DeviceId id : node.devices) {
    const Device& device = scene_->input.cluster[id];
    if (node.kind == MapNodeKind::device) {
      words += tr("<br>kind %1, speed %2<br>computes %3 of a step<br>peak memory %4")
                   .arg(name_of(device.kind))
                   .arg(device.speed)
                   .arg(human_share(scene_->use.devices[id()]),
                        human_bytes(scene_->prediction.peak_memory[id()]));
    }
  }
  if (node.kind == MapNodeKind::host) {
    words += QStringLiteral("<br>") + counted(node.devices.size(), tr("device"));
    words += tr("<br>its most used inner link: %1").arg(human_share(heat(node.inside)));
  }
  return words;
}

QString ClusterCanvas::tip_at(const QPointF& at) const {
  if (!scene_) return {};
  if (const auto node = map_.node_at(to_map(at))) return tip_of(map_.nodes[*node]);
  if (const auto link = link_at(at))
    return words_for(*link) + tr("<br>Double click: another bandwidth");
  return {};
}

bool ClusterCanvas::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), tip_at(help->pos()), this);
  return true;
}

void ClusterCanvas::resizeEvent(QResizeEvent* /*event*/) {
  if (fitted_) fit();
}

void ClusterCanvas::zoom(double factor, const QPointF& at) {
  const QPointF fixed = to_map(at);
  scale_ = std::clamp(scale_ * factor, 0.02, 20.0);
  offset_ = at - fixed * scale_;
  fitted_ = false;
  update();
}

void ClusterCanvas::wheelEvent(QWheelEvent* event) {
  zoom(std::pow(1.0015, event->angleDelta().y()), event->position());
}

void ClusterCanvas::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->position();
  offset_before_ = offset_;
  dragged_ = false;
}

void ClusterCanvas::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) == 0) return;
  const QPointF by = event->position() - pressed_;
  if (!dragged_ && by.manhattanLength() < 5) return;
  dragged_ = true;
  fitted_ = false;
  offset_ = offset_before_ + by;
  update();
}

void ClusterCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (dragged_ || event->button() != Qt::LeftButton) return;
  if (const auto node = map_.node_at(to_map(event->position()))) {
    const auto& devices = map_.nodes[*node].devices;
    if (!devices.empty()) emit device_clicked(devices.front());
    return;
  }
  const auto link = link_at(event->position());
  emit link_clicked(link);
  if (!link) emit device_clicked(std::nullopt);
}

void ClusterCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (map_.node_at(to_map(event->position()))) return;
  if (const auto link = link_at(event->position()))
    emit bandwidth_wanted(*link, event->position().toPoint());
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

void ClusterCanvas::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_F:
      return fit();
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(1.25, rect().center());
    case Qt::Key_Minus:
      return zoom(0.8, rect().center());
    case Qt::Key_Period:
      return walk(1);
    case Qt::Key_Comma:
      return walk(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (link_) emit bandwidth_wanted(*link_, place_of(*link_).toPoint());
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace strata::gui
