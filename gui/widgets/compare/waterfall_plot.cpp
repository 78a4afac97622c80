#include "gui/widgets/compare/waterfall_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "gui/models/compare/difference_table.h"
#include "gui/models/text.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kInset = 8, kMostHigh = 30;

}  // namespace

WaterfallPlot::WaterfallPlot(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Waterfall of the differences"));
}

void WaterfallPlot::show_bars(std::vector<WaterfallBar> bars, const QString& caption) {
  bars_ = std::move(bars);
  caption_ = caption;
  const double low = scale().low;
  if (low > 0) caption_ += tr(" The axis begins at %1.").arg(human_seconds({low}));
  update();
}

void WaterfallPlot::select(std::vector<LayerId> layers) {
  layers_ = std::move(layers);
  update();
}

QSize WaterfallPlot::sizeHint() const {
  return {480, static_cast<int>(16 * 1.4 * fontMetrics().height()) + caption_height()};
}

int WaterfallPlot::caption_height() const {
  const QRect box(0, 0, std::max(100, width() - 16), 400);
  return fontMetrics().boundingRect(box, Qt::TextWordWrap, caption_).height() + 12;
}

double WaterfallPlot::line_height() const {
  if (bars_.empty()) return kMostHigh;
  return std::min(kMostHigh,
                  (height() - caption_height() - kInset) / static_cast<double>(bars_.size()));
}

double WaterfallPlot::names_width() const {
  double most = 0;
  for (const WaterfallBar& bar : bars_) {
    most =
        std::max<double>(most, fontMetrics().horizontalAdvance(QString::fromStdString(bar.what)));
  }
  return std::min(most + 2 * kInset, width() * 0.32);
}

// The totals' feet are cut off where they hide the changes; the axis then says so.
WaterfallPlot::Scale WaterfallPlot::scale() const {
  if (bars_.empty()) return {};
  double low = bars_.front().to.value, high = low;
  for (const WaterfallBar& bar : bars_) {
    low = std::min(low, bar.to.value);
    high = std::max(high, bar.to.value);
  }
  const double spread = high - low;
  return {low > 3 * spread ? low - 0.3 * spread : 0, high > 0 ? high : 1};
}

std::optional<std::size_t> WaterfallPlot::bar_at(const QPointF& at) const {
  const double line = (at.y() - kInset) / line_height();
  if (line < 0 || line >= static_cast<double>(bars_.size())) return std::nullopt;
  return static_cast<std::size_t>(line);
}

bool WaterfallPlot::chosen(const WaterfallBar& bar) const {
  return bar.layer && std::find(layers_.begin(), layers_.end(), *bar.layer) != layers_.end();
}

void WaterfallPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  painter.fillRect(rect(), theme.background);
  if (bars_.empty()) return;
  const Scale range = scale();
  for (std::size_t i = 0; i < bars_.size(); ++i) paint_bar(painter, i, range);
  painter.setPen(theme.faint);
  painter.drawText(
      QRectF(kInset, height() - caption_height(), width() - 2 * kInset, caption_height()),
      Qt::TextWordWrap | Qt::AlignTop, caption_);
  painter.setPen(hasFocus() ? theme.accent : theme.grid);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void WaterfallPlot::paint_bar(QPainter& painter, std::size_t i, const Scale& scale) const {
  const Theme theme = theme_of(palette());
  const WaterfallBar& bar = bars_[i];
  const double high = line_height(), top = kInset + static_cast<double>(i) * high;
  const double names = names_width();
  const double number = fontMetrics().horizontalAdvance(QStringLiteral("+000.0 ms")) + kInset;
  const QRectF area(names, top, width() - names - number - kInset, high);
  const auto x_of = [&](double value) {
    return area.left() + std::max(0.0, value - scale.low) / (scale.high - scale.low) * area.width();
  };
  if (chosen(bar)) {
    QColor fill = theme.accent;
    fill.setAlphaF(0.18F);
    painter.fillRect(QRectF(0, top, width(), high), fill);
  }
  const double from = x_of(bar.total ? scale.low : bar.from.value), to = x_of(bar.to.value);
  const QRectF box(std::min(from, to), top + high * 0.15, std::max(1.5, std::abs(to - from)),
                   high * 0.7);
  painter.fillRect(box, bar.total ? theme.accent : bar.change().value > 0 ? theme.bad : theme.good);
  if (i + 1 < bars_.size()) {
    painter.setPen(theme.faint);
    painter.drawLine(QPointF(to, box.bottom()), QPointF(to, top + high * 1.15));
  }
  painter.setPen(bar.total ? theme.text : theme.faint);
  if (chosen(bar)) painter.setPen(theme.text);
  painter.drawText(
      QRectF(kInset, top, names - 2 * kInset, high), Qt::AlignVCenter | Qt::AlignRight,
      painter.fontMetrics().elidedText(QString::fromStdString(bar.what), Qt::ElideMiddle,
                                       static_cast<int>(names - 2 * kInset)));
  painter.setPen(theme.text);
  painter.drawText(QRectF(width() - number - kInset, top, number, high),
                   Qt::AlignVCenter | Qt::AlignRight,
                   bar.total ? human_seconds(bar.to) : signed_seconds(bar.change()));
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

bool WaterfallPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto at = bar_at(help->pos());
  if (!at) {
    QToolTip::hideText();
    return true;
  }
  const WaterfallBar& bar = bars_[*at];
  const QString words =
      bar.total ? human_seconds(bar.to)
                : tr("%1: %2, from %3 to %4")
                      .arg(QString::fromStdString(bar.what), signed_seconds(bar.change()),
                           human_seconds(bar.from), human_seconds(bar.to));
  QToolTip::showText(help->globalPos(), words, this);
  return true;
}

}  // namespace strata::gui
