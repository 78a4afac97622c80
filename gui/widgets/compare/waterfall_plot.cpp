#include "gui/widgets/compare/waterfall_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <utility>

#include "gui/models/compare/difference_table.h"
#include "gui/models/short_name.h"
#include "gui/models/text.h"
#include "gui/widgets/navigation.h"

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

}  // namespace strata::gui
