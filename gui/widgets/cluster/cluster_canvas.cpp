#include "gui/widgets/cluster/cluster_canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/legend.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kLineClick = 7;  // pixels to a line that is meant
constexpr double kApart = 3;      // between the two directions, to each side

QString html_of(const std::string& name) {
  return QString::fromStdString(name).toHtmlEscaped();
}

QPen unused_pen(const Theme& theme) {
  return QPen(see_through(theme.faint, 0.45), 1, Qt::DotLine);
}

constexpr double kReadable = 7;  // pixels of a font that can be read

// Writes one line that fits the box's height, or nothing where nobody could read it.
void write_into(QPainter& painter, const QRectF& box, int flags, const QString& text) {
  const double size = std::min<double>(box.height() * 0.78, QFontInfo(painter.font()).pixelSize());
  if (size < kReadable) return;
  painter.save();
  QFont font = painter.font();
  font.setPixelSize(static_cast<int>(size));
  painter.setFont(font);
  const QString fits =
      painter.fontMetrics().elidedText(text, Qt::ElideMiddle, static_cast<int>(box.width()));
  if (fits.size() > 1) painter.drawText(box, flags, fits);
  painter.restore();
}

}  // namespace

ClusterCanvas::ClusterCanvas(QWidget* parent) : SheetCanvas({20, 1.8}, parent) {
  setAccessibleName(tr("Cluster"));
}

void ClusterCanvas::show_map(ClusterMap map, ScenePtr scene) {
  close_menu();
  const bool moved = map.bounds != map_.bounds;
  map_ = std::move(map);
  scene_ = std::move(scene);
  use_ = {};
  show_sheet();
  if (moved) fit();
}

void ClusterCanvas::show_use(LinkUse use) {
  use_ = std::move(use);
  find_most();
}

void ClusterCanvas::colour_by(LinkColour by) {
  by_ = by;
  find_most();
}

void ClusterCanvas::select(std::optional<LinkId> link, std::optional<DeviceId> device) {
  link_ = link;
  device_ = device;
  update();
}

// The legend keeps the lowest line for itself.
QRectF ClusterCanvas::room() const {
  return QRectF(rect()).adjusted(4, 4, -4, -2 * fontMetrics().height());
}

// From the rim of one box to that of the other; each direction keeps to its side.
ClusterCanvas::Line ClusterCanvas::line_of(const MapEdge& edge, bool back) const {
  const QRectF from = view().to_widget(map_.nodes[edge.from].box),
               to = view().to_widget(map_.nodes[edge.to].box);
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
  const auto found = map_.edge_at(view().to_sheet(at), kLineClick / view().scale());
  if (!found) return std::nullopt;
  const MapEdge& edge = map_.edges[*found];
  const QPointF a = map_.nodes[edge.from].box.center(),
                along = map_.nodes[edge.to].box.center() - a;
  const QPointF to = view().to_sheet(at) - a;
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
  for (const MapNode& node : map_.nodes) {
    const bool within =
        std::find(node.inside.begin(), node.inside.end(), link) != node.inside.end();
    if (within) return view().to_widget(node.box.center());
  }
  return {};
}

QPointF ClusterCanvas::place_of(DeviceId device) const {
  const auto node = map_.node_of(device);
  return node ? view().to_widget(map_.nodes[*node].box.center()) : QPointF();
}

const std::vector<double>& ClusterCanvas::values() const {
  return by_ == LinkColour::use ? use_.share : use_.bytes;
}

void ClusterCanvas::find_most() {
  most_ = 0;
  for (const double value : values()) most_ = std::max(most_, value);
  update();
}

double ClusterCanvas::value(const std::vector<LinkId>& links) const {
  double most = 0;
  for (const LinkId link : links) {
    if (link() < values().size()) most = std::max(most, values()[link()]);
  }
  return most;
}

double ClusterCanvas::heat(const std::vector<LinkId>& links) const {
  if (by_ == LinkColour::use) return std::min(value(links), 1.0);
  return most_ > 0 ? value(links) / most_ : 0;
}

bool ClusterCanvas::holds(const std::vector<LinkId>& links) const {
  return link_ && std::find(links.begin(), links.end(), *link_) != links.end();
}

void ClusterCanvas::resizeEvent(QResizeEvent* event) {
  SheetCanvas::resizeEvent(event);
  emit reshaped();
}

// What clicks and keys do to the drawn cluster, and what it tells of what is under the mouse.

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

// How links are painted, what the picked one says, and what the colours mean.

// What carries anything is never as pale as what carries nothing.
QColor ClusterCanvas::link_colour(double heat) const {
  return scale_colour(0.3 + 0.7 * heat, theme_of(palette()));
}

// What is used over what is not, and the picked one over all.
void ClusterCanvas::paint_edges(QPainter& painter) const {
  for (const int layer : {0, 1, 2}) {
    for (const MapEdge& edge : map_.edges) {
      for (const bool back : {false, true}) {
        const auto& links = back ? edge.back : edge.there;
        if (links.empty()) continue;
        const int its = holds(links) ? 2 : heat(links) > 0 ? 1 : 0;
        if (its == layer) paint_arrow(painter, line_of(edge, back), links);
      }
    }
  }
}

// Of a folded map: hundreds of lines meet at one switch, and arrows would hide each other.
void ClusterCanvas::paint_thin(QPainter& painter, const Line& line, double hot) const {
  painter.setPen(QPen(see_through(link_colour(hot), 0.4), 1));
  painter.drawLine(line.a, line.b);
}

void ClusterCanvas::paint_unused(QPainter& painter, const Line& line) const {
  painter.setPen(unused_pen(theme_of(palette())));
  painter.drawLine(line.a, line.b);
}

// Thicker where more goes through, with a head in its direction.
void ClusterCanvas::paint_arrow(QPainter& painter, const Line& line,
                                const std::vector<LinkId>& links) const {
  const Theme theme = theme_of(palette());
  const double hot = heat(links);
  const QPointF along = line.b - line.a;
  const double length = std::hypot(along.x(), along.y());
  if (length < 2) return;
  if (holds(links)) {
    painter.setPen(QPen(see_through(theme.accent, 0.4), 11, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(line.a, line.b);
  }
  if (hot <= 0) return paint_unused(painter, line);
  if (map_.folded && !holds(links)) return paint_thin(painter, line, hot);
  const QColor colour = link_colour(hot);
  const QPointF unit = along / length, aside(-unit.y(), unit.x());
  const double head = std::min(7.0, length / 3);
  painter.setPen(QPen(colour, 1.5 + 2.5 * hot, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(line.a, line.b - unit * head);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  const QPointF base = line.b - unit * head;
  painter.drawPolygon(QPolygonF({line.b, base + aside * head * 0.6, base - aside * head * 0.6}));
}

// Of the picked link alone: the table beside has the rest.
void ClusterCanvas::paint_labels(QPainter& painter) const {
  if (!link_ || link_->value >= scene_->input.cluster.links().size()) return;
  const QPointF at = place_of(*link_);
  if (at.isNull()) return;
  const Theme theme = theme_of(palette());
  const Link& link = scene_->input.cluster[*link_];
  QString text = link.bandwidth < kNoLimit ? human_rate(link.bandwidth) : tr("no limit");
  if ((*link_)() < use_.share.size())
    text += QStringLiteral(" · ") + human_share(use_.share[(*link_)()]);
  QRectF box = painter.fontMetrics().boundingRect(text);
  box.adjust(-5, -2, 5, 2);
  box.moveCenter(at);
  box.moveLeft(std::clamp(box.left(), 2.0, std::max(2.0, width() - box.width() - 2)));
  painter.setPen(theme.accent);
  painter.setBrush(theme.background);
  painter.drawRoundedRect(box, 3, 3);
  painter.setPen(theme.text);
  painter.drawText(box, Qt::AlignCenter, text);
}

void ClusterCanvas::paint_legend(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  const double top = room().bottom() + 2;
  LegendLine legend(painter, QRectF(0, top, width(), height() - top), theme);
  const bool use = by_ == LinkColour::use;
  if (most_ <= 0) return legend.words(tr("Nothing crosses a link in this time"));
  legend.words(use ? tr("Use of each link") : tr("Bytes over each link"));
  legend.stroke(unused_pen(theme), tr("none"));
  legend.scale([this](double heat) { return link_colour(heat); }, use ? tr("0 %") : human_bytes({}),
               use ? tr("100 %") : human_bytes({std::llround(most_)}));
  if (use) legend.words(tr("the most: %1").arg(human_share(most_)));
  legend.words(map_.folded ? tr("bar: busiest device  ·  rim: inner links")
                           : tr("bar: share of a step that it computes"));
}

// How the cluster is painted: frames, links under nodes, then what the picked link says of itself.

void ClusterCanvas::paint_sheet(QPainter& painter) const {
  paint_frames(painter);
  paint_edges(painter);
  paint_nodes(painter);
  paint_labels(painter);
}

void ClusterCanvas::paint_frames(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  for (const MapFrame& frame : map_.frames) {
    const QRectF box = view().to_widget(frame.box);
    painter.setPen(theme.grid);
    painter.setBrush(palette().color(QPalette::AlternateBase));
    painter.drawRoundedRect(box, 6, 6);
    painter.setPen(theme.faint);
    const double line = 20 * view().scale();
    write_into(painter, {box.left() + 7, box.top() + 1, box.width() - 14, line},
               (frame.name_right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
               QString::fromStdString(frame.name));
  }
}

void ClusterCanvas::paint_nodes(QPainter& painter) const {
  for (const MapNode& node : map_.nodes) paint_node(painter, node);
}

// A host's rim has the colour of its most used inner link.
void ClusterCanvas::paint_node(QPainter& painter, const MapNode& node) const {
  const Theme theme = theme_of(palette());
  const QRectF box = view().to_widget(node.box);
  const bool chosen = device_ && std::find(node.devices.begin(), node.devices.end(), *device_) !=
                                     node.devices.end();
  const double inner = heat(node.inside);
  const double round = node.kind == MapNodeKind::network ? box.height() / 2 : 4;
  painter.setPen(QPen(theme.faint, 1));
  if (inner > 0) painter.setPen(QPen(link_colour(inner), 2));
  if (chosen) painter.setPen(QPen(theme.accent, 3));
  painter.setBrush(
      palette().color(node.kind == MapNodeKind::network ? QPalette::Window : QPalette::Button));
  painter.drawRoundedRect(box, round, round);
  paint_busy(painter, node);
  paint_name(painter, node);
}

// The share of a step that its busiest device computes, as a bar at its foot.
void ClusterCanvas::paint_busy(QPainter& painter, const MapNode& node) const {
  if (node.devices.empty()) return;
  const Theme theme = theme_of(palette());
  double busy = 0;
  for (const DeviceId device : node.devices) busy = std::max(busy, scene_->use.devices[device()]);
  const QRectF box = view().to_widget(node.box);
  const double high = 4 * std::min(1.0, view().scale());
  const QRectF all(box.left() + 4, box.bottom() - high - 2, box.width() - 8, high);
  painter.fillRect(all, theme.grid);
  painter.fillRect(QRectF(all.topLeft(), QSizeF(all.width() * std::min(1.0, busy), high)),
                   theme.accent);
}

void ClusterCanvas::paint_name(QPainter& painter, const MapNode& node) const {
  const double foot = node.devices.empty() ? 0 : 4 * std::min(1.0, view().scale()) + 2;
  const QRectF box = view().to_widget(node.box).adjusted(3, 0, -3, -foot);
  const QString name = QString::fromStdString(node.short_name());
  const QString count = counted(node.devices.size(), tr("device"));
  const bool two = node.kind == MapNodeKind::host && box.height() > 2.6 * kReadable;
  painter.setPen(palette().color(QPalette::ButtonText));
  if (!two) return write_into(painter, box, Qt::AlignCenter, name);
  const QSizeF half(box.width(), box.height() / 2);
  write_into(painter, {box.topLeft(), half}, Qt::AlignCenter, name);
  painter.setPen(theme_of(palette()).faint);
  write_into(painter, {box.left(), box.center().y(), half.width(), half.height()}, Qt::AlignCenter,
             count);
}

}  // namespace strata::gui
