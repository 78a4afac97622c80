#include "gui/widgets/compare/waterfall_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <utility>

#include "gui/models/compare/differences.h"
#include "gui/models/short_name.h"
#include "gui/models/text.h"
#include "gui/widgets/navigation.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr std::size_t kFewestLines = 4, kUsualLines = 12;

}  // namespace

WaterfallPlot::WaterfallPlot(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Waterfall of the differences"));
  show_tips(this, [this](QPoint at) { return tip_at(at); });
}

void WaterfallPlot::show_bars(std::vector<WaterfallBar> bars, const QString& title,
                              const QString& caption) {
  all_ = std::move(bars);
  title_ = title;
  caption_ = caption;
  gather();
}

void WaterfallPlot::gather() {
  const double room = (height() - top() - line_height()) / line_height();
  bars_ = gathered(all_, static_cast<std::size_t>(std::max(0.0, room)));
  std::vector<std::string> names;
  names.reserve(bars_.size());
  for (const WaterfallBar& bar : bars_) names.push_back(bar.what);
  shared_ = shared_prefixes(names);
  update();
}

void WaterfallPlot::resizeEvent(QResizeEvent* /*event*/) {
  gather();
}

void WaterfallPlot::select(std::vector<LayerId> layers) {
  layers_ = std::move(layers);
  update();
}

double WaterfallPlot::line_height() const {
  return 1.35 * fontMetrics().height();
}

// Beneath the title.
double WaterfallPlot::top() const {
  return line_height() + kEdge;
}

double WaterfallPlot::height_for(std::size_t lines) const {
  return top() + static_cast<double>(lines + 1) * line_height();
}

QSize WaterfallPlot::sizeHint() const {
  return {420, static_cast<int>(height_for(kUsualLines))};
}

QSize WaterfallPlot::minimumSizeHint() const {
  return {240, static_cast<int>(height_for(kFewestLines))};
}

double WaterfallPlot::names_width() const {
  double most = 0;
  for (const WaterfallBar& bar : bars_) {
    most =
        std::max<double>(most, fontMetrics().horizontalAdvance(QString::fromStdString(bar.what)));
  }
  return std::min(most + 1 + 2 * kEdge, width() * 0.32);
}

// The last total says what share of the first one all changes are.
QString WaterfallPlot::number(std::size_t i) const {
  const WaterfallBar& bar = bars_[i];
  if (!bar.total) return signed_seconds(bar.change());
  const Seconds before = bars_.front().to, change = bar.to - before;
  if (i == 0 || before <= Seconds{} || change == Seconds{}) return human_seconds(bar.to);
  const QString sign = change > Seconds{} ? QStringLiteral("+") : QString();
  return QStringLiteral("%1 (%2%3)").arg(human_seconds(bar.to), sign, human_share(change / before));
}

double WaterfallPlot::numbers_width() const {
  double most = 0;
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    most = std::max<double>(most, fontMetrics().horizontalAdvance(number(i)));
  }
  return most + kEdge;
}

std::optional<std::size_t> WaterfallPlot::bar_at(const QPointF& at) const {
  const double line = (at.y() - top()) / line_height();
  if (line < 0 || line >= static_cast<double>(bars_.size())) return std::nullopt;
  return static_cast<std::size_t>(line);
}

bool WaterfallPlot::chosen(const WaterfallBar& bar) const {
  const auto is_chosen = [&](LayerId layer) {
    return std::find(layers_.begin(), layers_.end(), layer) != layers_.end();
  };
  return (bar.layer && is_chosen(*bar.layer)) ||
         std::any_of(bar.gathered.begin(), bar.gathered.end(), is_chosen);
}

void WaterfallPlot::mousePressEvent(QMouseEvent* event) {
  const auto at = bar_at(event->position());
  if (at && bars_[*at].layer) emit picked(*bars_[*at].layer);
}

void WaterfallPlot::keyPressEvent(QKeyEvent* event) {
  const bool up = event->key() == Qt::Key_Up, down = event->key() == Qt::Key_Down;
  if (!up && !down) return QWidget::keyPressEvent(event);
  std::vector<LayerId> order;
  for (const WaterfallBar& bar : bars_) {
    if (bar.layer) order.push_back(*bar.layer);
  }
  if (order.empty()) return;
  const LayerId now = layers_.empty() ? LayerId() : layers_.front();
  const auto at = std::find(order.begin(), order.end(), now);
  if (at == order.end()) {
    emit picked(down ? order.front() : order.back());
  } else if (down && at + 1 != order.end()) {
    emit picked(*(at + 1));
  } else if (up && at != order.begin()) {
    emit picked(*(at - 1));
  }
}

QString WaterfallPlot::tip_at(const QPointF& at) const {
  const auto found = bar_at(at);
  if (!found) return at.y() < top() ? caption_ : QString();
  const WaterfallBar& bar = bars_[*found];
  if (bar.total) return human_seconds(bar.to);
  return tr("%1: %2, from %3 to %4")
      .arg(QString::fromStdString(bar.what), signed_seconds(bar.change()), human_seconds(bar.from),
           human_seconds(bar.to));
}

// How a waterfall is painted: a line for each bar, and what there is to say beneath.

void WaterfallPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  painter.fillRect(rect(), theme.background);
  if (bars_.empty()) return;
  const WaterfallAxis axis = axis_of(bars_);
  for (std::size_t i = 0; i < bars_.size(); ++i) paint_bar(painter, i, axis);
  paint_texts(painter, axis);
  painter.setPen(hasFocus() ? theme.accent : theme.grid);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

// What a broken axis leaves out stands in the last line; all that there is to say only where there
// is room.
void WaterfallPlot::paint_texts(QPainter& painter, const WaterfallAxis& axis) const {
  const Theme theme = theme_of(palette());
  const QFontMetrics metrics = painter.fontMetrics();
  const auto write = [&](double y, const QColor& colour, const QString& text) {
    const QRectF line(kEdge, y, width() - 2 * kEdge, line_height());
    painter.setPen(colour);
    painter.drawText(line, Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, static_cast<int>(line.width())));
  };
  write(kEdge / 2, theme.text, title_);
  const QString broken =
      axis.broken()
          ? tr("The axis is broken: the first %1 are left out.").arg(human_seconds(axis.left_out))
          : QString();
  const double y = top() + static_cast<double>(bars_.size()) * line_height() + 2;
  const QRectF room(kEdge, y + 4, width() - 2 * kEdge, height() - y - 8);
  const QString all = broken.isEmpty() ? caption_ : broken + QLatin1Char(' ') + caption_;
  const QRectF wanted = metrics.boundingRect(room.toRect(), Qt::TextWordWrap, all);
  if (wanted.height() > room.height()) return write(y, theme.faint, broken);
  painter.setPen(theme.faint);
  painter.drawText(room, Qt::TextWordWrap, all);
}

void WaterfallPlot::paint_bar(QPainter& painter, std::size_t i, const WaterfallAxis& axis) const {
  const Theme theme = theme_of(palette());
  const WaterfallBar& bar = bars_[i];
  const double high = line_height(), top = this->top() + static_cast<double>(i) * high;
  const double names = names_width();
  const double number = numbers_width();
  const QRectF area(names, top, width() - names - number - kEdge, high);
  const auto x_of = [&](Seconds at) { return area.left() + axis.place(at) * area.width(); };
  if (chosen(bar)) {
    painter.fillRect(QRectF(0, top, width(), high), see_through(theme.accent, 0.18));
  }
  const double from = x_of(bar.from), to = x_of(bar.to);
  const QRectF box(std::min(from, to), top + high * 0.15, std::max(1.5, std::abs(to - from)),
                   high * 0.7);
  painter.fillRect(box, bar.total ? theme.accent : bar.change().value > 0 ? theme.bad : theme.good);
  if (bar.total && axis.broken()) {
    paint_break(painter, box, area.left() + WaterfallAxis::kBreak * area.width());
  }
  if (i + 1 < bars_.size()) {
    painter.setPen(theme.faint);
    painter.drawLine(QPointF(to, box.bottom()), QPointF(to, top + high * 1.15));
  }
  painter.setPen(bar.total ? theme.text : theme.faint);
  if (chosen(bar)) painter.setPen(theme.text);
  painter.drawText(QRectF(kEdge, top, names - 2 * kEdge, high), Qt::AlignVCenter | Qt::AlignRight,
                   elided_name(QString::fromStdString(bar.what), shared_[i], names - 2 * kEdge,
                               QFontMetricsF(painter.font())));
  painter.setPen(theme.text);
  painter.drawText(QRectF(width() - number - kEdge, top, number, high),
                   Qt::AlignVCenter | Qt::AlignRight, this->number(i));
}

// A torn bar: what lies before `x` is drawn to another scale than what lies behind it.
void WaterfallPlot::paint_break(QPainter& painter, const QRectF& bar, double x) const {
  constexpr double kTooth = 3, kGap = 4;  // pixels
  constexpr int kTeeth = 4;
  QPolygonF left, right;
  for (int i = 0; i <= kTeeth; ++i) {
    const double y = bar.top() - 2 + (bar.height() + 4) * i / kTeeth;
    const double tooth = i % 2 == 0 ? kTooth : -kTooth;
    left << QPointF(x - kGap + tooth, y);
    right.prepend(QPointF(x + tooth, y));
  }
  const Theme theme = theme_of(palette());
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.background);
  painter.drawPolygon(left + right);
  painter.setPen(theme.text);
  painter.drawPolyline(left);
  painter.drawPolyline(right);
  painter.restore();
}

}  // namespace strata::gui
