#include "gui/widgets/network/network_canvas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/legend.h"

namespace strata::gui {
namespace {

PickMode mode_of(Qt::KeyboardModifiers modifiers) {
  if (modifiers & Qt::ShiftModifier) return PickMode::range;
  return modifiers & Qt::ControlModifier ? PickMode::toggle : PickMode::replace;
}

}  // namespace

NetworkCanvas::NetworkCanvas(NetworkMap& map, QWidget* parent)
    : SheetCanvas({4, 1.25}, parent), map_(map) {
  setMouseTracking(true);
  setAccessibleName(tr("The network's graph"));
  connect(&map, &NetworkMap::changed, this, &NetworkCanvas::show_sheet);
  connect(&map, &NetworkMap::selection_changed, this, qOverload<>(&QWidget::update));
  connect(&map, &NetworkMap::rearranged, this, &NetworkCanvas::rearranged);
}

void NetworkCanvas::rearranged(bool other_network) {
  current_.reset();
  hovered_.reset();
  found_.clear();
  show_sheet();
  if (other_network) fit();
}

void NetworkCanvas::set_colours(NetworkColours colours) {
  colours_ = colours;
  update();
}

void NetworkCanvas::set_found(std::set<std::size_t> nodes) {
  found_ = std::move(nodes);
  update();
}

void NetworkCanvas::set_painting(bool painting) {
  painting_ = painting;
  setCursor(painting ? Qt::CrossCursor : Qt::ArrowCursor);
}

QRectF NetworkCanvas::sheet() const {
  return map_.scene() ? map_.sheet().bounds : QRectF();
}

QRectF NetworkCanvas::room() const {
  return QRectF(rect()).adjusted(0, 0, 0, -kLegendHeight);
}

void NetworkCanvas::show_node(std::size_t node) {
  const QRectF there = view().to_widget(map_.rect(node));
  const QRectF inside = QRectF(rect()).adjusted(20, 20, -20, -20);
  if (inside.contains(there)) return;
  pan(inside.center() - there.center());
}

QPointF NetworkCanvas::centre_of(std::size_t node) const {
  return view().to_widget(map_.rect(node).center());
}

std::optional<std::size_t> NetworkCanvas::node_at(const QPointF& position) const {
  const QPointF point = view().to_sheet(position);
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (map_.rect(i).contains(point)) return i;
  }
  return std::nullopt;
}

void NetworkCanvas::set_current(std::optional<std::size_t> node) {
  current_ = node;
  update();
}

void NetworkCanvas::resizeEvent(QResizeEvent* event) {
  const double high = room().height();
  if (high > 0) map_.set_aspect(width() / high);
  SheetCanvas::resizeEvent(event);
}

QString NetworkCanvas::tip_at(const QPointF& at) const {
  const auto number = node_at(at);
  if (!number) return {};
  const NetworkNode& node = map_.picture().nodes[*number];
  const Part& part = map_.parts()[node.part];
  QString text = QStringLiteral("<b>%1</b><br>%2")
                     .arg(QString::fromStdString(shown_name(part)).toHtmlEscaped(),
                          QString::fromStdString(node.op).toHtmlEscaped());
  text += tr("<br>output %1").arg(human_output(map_.scene()->input.graph, part.layers.back()));
  for (const NamedCut& cut : node.cuts) {
    text += QStringLiteral("<br>") + QString::fromStdString(cut.text);
  }
  if (node.stages.size() == 1) {
    text += QStringLiteral("<br>") +
            QString::fromStdString(map_.scene()->stages.name(part.layers.front()));
  } else if (!node.stages.empty()) {
    text += tr("<br>in %1 of %2 stages").arg(node.stages.size()).arg(map_.scene()->stages.count());
  }
  if (part.times > 1) {
    text += tr("<br>in each of %1 blocks; all of them together have").arg(part.times);
  }
  text += tr("<br>Eq. 1: compute %1, transfer %2, sync %3")
              .arg(human_seconds(node.terms.compute), human_seconds(node.terms.transfer),
                   human_seconds(node.terms.sync));
  if (node.locked > 0) text += tr("<br>locked");
  if (!part.children.empty()) text += tr("<br><i>double-click opens it</i>");
  return text;
}

// What mouse and keyboard do to a NetworkCanvas.

void NetworkCanvas::mousePressEvent(QMouseEvent* event) {
  if (brushing_) return;  // with another button
  const auto node = node_at(event->position());
  brushing_ = painting_ && event->button() == Qt::LeftButton;
  if (brushing_ && node) painted_.insert(*node);
  if (brushing_) return update();
  SheetCanvas::mousePressEvent(event);
}

void NetworkCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto over = node_at(event->position());
  if (brushing_ && over) painted_.insert(*over);
  if (std::exchange(hovered_, over) != over) update();
  if (!brushing_) SheetCanvas::mouseMoveEvent(event);
}

void NetworkCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!brushing_) return SheetCanvas::mouseReleaseEvent(event);
  if (event->button() != Qt::LeftButton) return;
  brushing_ = false;
  const std::set<std::size_t> nodes = std::exchange(painted_, {});
  if (!nodes.empty()) emit painted({nodes.begin(), nodes.end()});
  update();
}

void NetworkCanvas::click(const QPointF& at, Qt::KeyboardModifiers modifiers) {
  const auto node = node_at(at);
  if (!node && modifiers == Qt::NoModifier) emit picked({}, PickMode::replace);
  if (!node) return;
  emit picked({*node}, mode_of(modifiers));
  if (mode_of(modifiers) != PickMode::range) set_current(node);
}

void NetworkCanvas::pick_band(const QRectF& sheet, Qt::KeyboardModifiers modifiers) {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (sheet.intersects(map_.rect(i))) nodes.push_back(i);
  }
  const bool more = (modifiers & Qt::ControlModifier) != 0;
  emit picked(nodes, more ? PickMode::toggle : PickMode::replace);
}

void NetworkCanvas::double_click(const QPointF& at) {
  if (painting_) return;
  if (const auto node = node_at(at)) {
    emit opened(map_.picture().nodes[*node].part);
    return;
  }
  for (const auto& [frame, part] : map_.frames()) {
    const std::vector<std::size_t>& held = map_.parts()[part].children;
    if (frame.contains(view().to_sheet(at)) && !held.empty()) return emit shut(held.front());
  }
}

void NetworkCanvas::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  hovered_.reset();
  update();
}

void NetworkCanvas::pick_for_menu(const QPointF& at) {
  const auto node = node_at(at);
  if (node && !painting_ && !map_.selected(*node)) click(at, Qt::NoModifier);
}

QPointF NetworkCanvas::current_place() const {
  return current_ ? centre_of(*current_) : room().center();
}

bool NetworkCanvas::take_key(const QKeyEvent& event) {
  if (move_key(event)) return true;
  return !(event.modifiers() & (Qt::ControlModifier | Qt::AltModifier)) && part_key(event.key());
}

bool NetworkCanvas::move_key(const QKeyEvent& event) {
  const PickMode mode = mode_of(event.modifiers());
  switch (event.key()) {
    case Qt::Key_Up:
      return step(0, -1, mode), true;
    case Qt::Key_Down:
      return step(0, 1, mode), true;
    case Qt::Key_Left:
      return step(-1, 0, mode), true;
    case Qt::Key_Right:
      return step(1, 0, mode), true;
    default:
      return false;
  }
}

bool NetworkCanvas::part_key(int key) {
  const bool opens = key == Qt::Key_E || key == Qt::Key_Return || key == Qt::Key_Enter;
  if (!current_ || (!opens && key != Qt::Key_Backspace)) return false;
  const std::size_t part = map_.picture().nodes[*current_].part;
  if (opens) emit opened(part);
  if (!opens) emit shut(part);
  return true;
}

// To the nearest node in that direction; what lies aside counts double.
void NetworkCanvas::step(int dx, int dy, PickMode mode) {
  const std::size_t count = map_.picture().nodes.size();
  if (count == 0) return;
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count && current_; ++i) {
    const QPointF to = map_.rect(i).center() - map_.rect(*current_).center();
    const double ahead = to.x() * dx + to.y() * dy;
    const double aside = std::abs(to.x() * dy) + std::abs(to.y() * dx);
    if (ahead < 1 || ahead + 2 * aside >= least) continue;
    least = ahead + 2 * aside;
    best = i;
  }
  // Over a column's end the network's order goes on.
  if (!best && current_ && dy > 0 && *current_ + 1 < count) best = *current_ + 1;
  if (!best && current_ && dy < 0 && *current_ > 0) best = *current_ - 1;
  if (!current_) best = 0;
  if (!best) return;
  set_current(best);
  show_node(*best);
  emit picked({*best}, mode);
}

// How a NetworkCanvas is painted, in a window and into a file.

QString NetworkCanvas::placeholder() const {
  return tr("No network yet.\nOpen one, or drop a .toml or .onnx file here.");
}

NetworkPainter NetworkCanvas::painter_of_nodes() const {
  return {map_, theme_of(palette()), colours_, font()};
}

void NetworkCanvas::paint_sheet(QPainter& painter) const {
  NetworkPainter network = painter_of_nodes();
  network.current = hasFocus() ? current_ : std::nullopt;
  network.hovered = hovered_;
  network.found = found_;
  network.found.insert(painted_.begin(), painted_.end());
  painter.save();
  const double scale = view().scale();
  painter.translate(view().offset());
  painter.scale(scale, scale);
  network.paint(painter, scale, QRectF(view().to_sheet({0, 0}), QSizeF(size()) / scale));
  painter.restore();
}

void NetworkCanvas::paint_legend(QPainter& painter) const {
  paint_legend(painter, painter_of_nodes(), size());
}

double NetworkCanvas::whole_scale() const {
  constexpr double kMostPixels = 4e6;
  const QSizeF sheet = map_.sheet().bounds.size();
  const double pixels = std::max(sheet.width() * sheet.height(), 1.0);
  return std::min(1.0, std::sqrt(kMostPixels / pixels));
}

QSize NetworkCanvas::whole_size() const {
  if (!map_.scene()) return size();
  const QSize sheet = (map_.sheet().bounds.size() * whole_scale()).toSize();
  return sheet.expandedTo(minimumSizeHint()) + QSize(0, kLegendHeight);
}

void NetworkCanvas::paint_whole(QPainter& painter) const {
  painter.fillRect(QRect(QPoint(), whole_size()), theme_of(palette()).background);
  if (!map_.scene()) return;
  const NetworkPainter network = painter_of_nodes();
  const QRectF sheet = map_.sheet().bounds;
  painter.save();
  painter.scale(whole_scale(), whole_scale());
  painter.translate(-sheet.topLeft());
  network.paint(painter, whole_scale(), sheet);
  painter.restore();
  paint_legend(painter, network, whole_size());
}

// One line below the sheet, which leaves it free.
void NetworkCanvas::paint_legend(QPainter& painter, const NetworkPainter& network,
                                 const QSizeF& size) const {
  const QRectF line(0, size.height() - kLegendHeight, size.width(), kLegendHeight);
  LegendLine legend(painter, line, theme_of(palette()));
  legend.words(legend_title(colours_));
  for (const ColourMeaning& entry : network.legend()) legend.square(entry.colour, entry.text);
}

}  // namespace strata::gui
