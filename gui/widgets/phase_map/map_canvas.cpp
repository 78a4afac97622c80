#include "gui/widgets/phase_map/map_canvas.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/models/text.h"
#include "gui/widgets/navigation.h"

namespace strata::gui {
namespace {

constexpr double kMapMargin = 10;
constexpr double kClearWin = 1.5;     // times as long: in full colour
constexpr double kFaintestWin = 0.3;  // of a colour, where it hardly wins

QString value_name(const MapAxis& axis, std::size_t value) {
  return QString::fromStdString(axis.values[value]);
}

double widest(const QFontMetricsF& metrics, const MapAxis& axis) {
  double width = 0;
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    width = std::max(width, metrics.horizontalAdvance(value_name(axis, i)));
  }
  return width;
}

double strength_of(const MapCell& cell) {
  if (cell.margin == 0) return 1;
  const double lead = std::log(cell.margin) / std::log(kClearWin);
  return kFaintestWin + (1 - kFaintestWin) * std::clamp(lead, 0.0, 1.0);
}

QStringList cell_lines(const PhaseMap& map, const MapCell& cell) {
  if (!cell.winner) return {QStringLiteral("–")};
  QStringList lines{QString::fromStdString(map.strategies[*cell.winner])};
  if (cell.margin > 0) lines << QString::number(cell.margin, 'f', 2) + QStringLiteral("×");
  return lines;
}

QColor over(const QColor& colour, double share, const QColor& below) {
  const auto part = [&](float a, float b) {
    return static_cast<float>(share) * a + static_cast<float>(1 - share) * b;
  };
  return QColor::fromRgbF(part(colour.redF(), below.redF()), part(colour.greenF(), below.greenF()),
                          part(colour.blueF(), below.blueF()));
}

}  // namespace

QColor strategy_colour(const std::string& strategy, const Theme& theme) {
  // As the rows of a sweep have them.
  static constexpr std::array<std::string_view, 5> kNames = {"data", "model", "owt", "optimal",
                                                             "eq1"};
  const auto at = std::ranges::find(kNames, strategy);
  return category_colour(static_cast<std::size_t>(at - kNames.begin()), theme);
}

MapCanvas::MapCanvas(const MapRun& run, QWidget* parent) : QWidget(parent), run_(run) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(200, 140);
  setAccessibleName(tr("Which strategy wins where"));
  show_tips(this, [this](QPoint at) { return tip(at); });
}

void MapCanvas::set_current(std::optional<MapPlace> place) {
  if (place == current_) return;
  current_ = place;
  update();
  emit current_changed();
}

void MapCanvas::set_desk(std::optional<MapPlace> place) {
  desk_ = place;
  update();
}

// Names of values at the left and below, with the axes' titles above and below them.
QRectF MapCanvas::area() const {
  const QFontMetricsF metrics(font());
  const double left = kMapMargin + widest(metrics, run_.map().y) + 8;
  const double top = kMapMargin + metrics.height() + 4;
  const double below = kMapMargin + 2 * metrics.height() + 8;
  return {left, top, std::max(1.0, width() - left - kMapMargin),
          std::max(1.0, height() - top - below)};
}

QRectF MapCanvas::cell(MapPlace place) const {
  const QRectF room = area();
  const double wide = room.width() / static_cast<double>(columns());
  const double high = room.height() / static_cast<double>(rows());
  return {room.left() + static_cast<double>(place.column) * wide,
          room.bottom() - static_cast<double>(place.row + 1) * high, wide, high};
}

std::optional<MapPlace> MapCanvas::place_at(QPointF at) const {
  const QRectF room = area();
  if (columns() == 0 || !room.contains(at)) return std::nullopt;
  const auto place = [](double along, double length, std::size_t count) {
    return static_cast<std::size_t>(std::clamp(along / length, 0.0, 0.999999) *
                                    static_cast<double>(count));
  };
  return MapPlace{place(at.x() - room.left(), room.width(), columns()),
                  place(room.bottom() - at.y(), room.height(), rows())};
}

QString MapCanvas::tip(QPointF at) const {
  const std::optional<MapPlace> place = place_at(at);
  if (!place) return {};
  if (!run_.knows(place->column, place->row)) return tr("not known yet");
  return cell_text(run_.map(), *place);
}

void MapCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) set_current(place_at(event->position()));
}

void MapCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && place_at(event->position())) emit open_wanted();
}

void MapCanvas::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    if (current_) emit open_wanted();
  } else if (!step(event->key())) {
    QWidget::keyPressEvent(event);
  }
}

// The first arrow goes to the case on the desk, or to a corner.
bool MapCanvas::step(int key) {
  const int across = key == Qt::Key_Right ? 1 : key == Qt::Key_Left ? -1 : 0;
  const int up = key == Qt::Key_Up ? 1 : key == Qt::Key_Down ? -1 : 0;
  if ((across == 0 && up == 0) || columns() == 0) return false;
  if (!current_) return set_current(desk_.value_or(MapPlace{})), true;
  const auto moved = [](std::size_t from, int by, std::size_t count) {
    const auto to = static_cast<std::ptrdiff_t>(from) + by;
    return static_cast<std::size_t>(
        std::clamp(to, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(count) - 1));
  };
  set_current(
      MapPlace{moved(current_->column, across, columns()), moved(current_->row, up, rows())});
  return true;
}

void MapCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  painter.fillRect(rect(), theme.background);
  if (columns() == 0) return;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t column = 0; column < columns(); ++column) draw_cell(painter, {column, row});
  }
  draw_crossovers(painter);
  draw_frames(painter);
  draw_names(painter);
}

void MapCanvas::draw_cell(QPainter& painter, MapPlace place) const {
  const Theme theme = theme_of(palette());
  const QRectF room = cell(place).adjusted(1, 1, -1, -1);
  if (!run_.knows(place.column, place.row)) {
    painter.setPen(theme.grid);
    painter.drawRect(room);
    return;
  }
  const PhaseMap& map = run_.map();
  const MapCell& of = map.at(place.column, place.row);
  QColor colour = theme.background;
  if (of.winner) {
    colour =
        over(strategy_colour(map.strategies[*of.winner], theme), strength_of(of), theme.background);
    painter.fillRect(room, colour);
  } else {
    painter.fillRect(room, QBrush(theme.grid, Qt::BDiagPattern));
  }
  const QString text = cell_lines(map, of).join(QLatin1Char('\n'));
  const QRectF needed = painter.boundingRect(room, Qt::AlignCenter, text);
  if (needed.width() + 4 > room.width() || needed.height() > room.height()) return;
  painter.setPen(!of.winner                    ? theme.faint
                 : colour.lightnessF() > 0.55F ? QColor(Qt::black)
                                               : QColor(Qt::white));
  painter.drawText(room, Qt::AlignCenter, text);
}

void MapCanvas::draw_crossovers(QPainter& painter) const {
  painter.setPen(QPen(theme_of(palette()).text, 3, Qt::SolidLine, Qt::FlatCap));
  for (const Crossover& at : crossovers(run_.map())) {
    const QRectF from = cell({at.column, at.row});
    at.along_x ? painter.drawLine(from.topRight(), from.bottomRight())
               : painter.drawLine(from.topLeft(), from.topRight());
  }
}

// The desk's within the current one's, where they are the same.
void MapCanvas::draw_frames(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  if (desk_) {
    painter.setPen(QPen(theme.text, 2, Qt::DotLine));
    painter.drawRect(cell(*desk_).adjusted(4, 4, -4, -4));
  }
  if (!current_) return;
  painter.setPen(QPen(theme.accent, 3));
  painter.drawRect(cell(*current_).adjusted(2.5, 2.5, -2.5, -2.5));
}

void MapCanvas::draw_names(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  const PhaseMap& map = run_.map();
  const QRectF room = area();
  const double line = QFontMetricsF(font()).height();
  painter.setPen(theme.faint);
  double free_from = 0, free_below = height();
  for (std::size_t i = 0; i < columns(); ++i) {
    const double middle = cell({i, 0}).center().x();
    const double wide = QFontMetricsF(font()).horizontalAdvance(value_name(map.x, i)) + 4;
    if (middle - wide / 2 < free_from) continue;
    free_from = middle + wide / 2 + 4;
    painter.drawText(QRectF(middle - wide / 2, room.bottom() + 3, wide, line), Qt::AlignCenter,
                     value_name(map.x, i));
  }
  for (std::size_t i = 0; i < rows(); ++i) {
    const double middle = cell({0, i}).center().y();
    if (middle + line / 2 > free_below) continue;
    free_below = middle - line / 2;
    painter.drawText(QRectF(0, middle - line / 2, room.left() - 8, line),
                     Qt::AlignRight | Qt::AlignVCenter, value_name(map.y, i));
  }
  painter.setPen(theme.text);
  painter.drawText(QRectF(room.left(), room.bottom() + line + 5, room.width(), line),
                   Qt::AlignCenter, axis_title(map.x.key));
  const QRectF above(kMapMargin, kMapMargin, width() - 2 * kMapMargin, line);
  painter.drawText(above, Qt::AlignLeft, axis_title(map.y.key));
  Document of;
  of.input = run_.request().input;
  painter.drawText(above, Qt::AlignRight, QString::fromStdString(of.name()));
}

}  // namespace strata::gui
