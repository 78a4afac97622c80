#include "gui/widgets/why/parts_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr int kBarsMargin = 10, kBarsBetween = 3;
constexpr double kSeenOfStep = 0.0005;  // of a step

QColor colour_of(StepPart part, const Theme& theme) {
  switch (part) {
    case StepPart::compute:
      return work_colour(WorkKind::forward, theme);
    case StepPart::recompute:
      return recomputation_colour(theme);
    case StepPart::optimizer:
      return work_colour(WorkKind::update, theme);
    case StepPart::transfer:
      return work_colour(WorkKind::transfer, theme);
    case StepPart::reduce:
      return work_colour(WorkKind::sync, theme);
    case StepPart::gather:
      return work_colour(WorkKind::sync, theme).darker(125);
    case StepPart::statistics:
      return work_colour(WorkKind::statistics, theme);
    case StepPart::launch:
      return theme.text;
    case StepPart::bubble:
      break;
  }
  return theme.faint;
}

QBrush brush_of(StepPart part, const Theme& theme) {
  return part == StepPart::bubble ? bubble_brush(theme) : QBrush(colour_of(part, theme));
}

QString part_words(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

PartsBars::PartsBars(QWidget* parent)
    : QWidget(parent), legend_(new Legend(std::vector<LegendEntry>(), this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2, 0, 2, 0);
  column->addWidget(legend_);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  hide();
}

void PartsBars::show_parts(PartsOfStepPtr parts) {
  parts_ = std::move(parts);
  setVisible(parts_ != nullptr);
  if (!parts_) return;
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kStepPartCount; ++i) {
    const auto part = static_cast<StepPart>(i);
    const bool any = std::ranges::any_of(parts_->bars, [&](const PartsBar& bar) {
      return bar.of(part) > kSeenOfStep * parts_->step;
    });
    if (!any) continue;
    entries.push_back({tr("%1 %2").arg(part_words(name(part)),
                                       human_share(parts_->bars.front().of(part) / parts_->step)),
                       [part](const Theme& theme) { return colour_of(part, theme); },
                       part == StepPart::bubble ? Qt::BDiagPattern : Qt::SolidPattern});
  }
  legend_->set_entries(std::move(entries));
  const int bars = static_cast<int>(parts_->bars.size()) * (bar_height() + kBarsBetween);
  layout()->setContentsMargins(2, kBarsMargin + bars, 2, 0);
  update();
}

int PartsBars::names_width() const {
  int width = 0;
  for (const PartsBar& bar : parts_->bars) {
    width = std::max(width, fontMetrics().horizontalAdvance(QString::fromStdString(bar.name)));
  }
  return width + 2 * kBarsMargin;
}

QRectF PartsBars::box_of(std::size_t bar, StepPart part) const {
  const double left = names_width(), room = width() - left - kBarsMargin;
  const PartsBar& shown = parts_->bars[bar];
  double before = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(part); ++i) {
    before += shown.parts[i] / parts_->step;
  }
  const double top = kBarsMargin + static_cast<double>(bar) * (bar_height() + kBarsBetween);
  return {left + before * room, top, shown.of(part) / parts_->step * room,
          static_cast<double>(bar_height())};
}

void PartsBars::paintEvent(QPaintEvent* /*event*/) {
  if (!parts_) return;
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  for (std::size_t i = 0; i < parts_->bars.size(); ++i) {
    const QRectF first = box_of(i, StepPart::compute);
    painter.setPen(theme.text);
    painter.drawText(QRectF(kBarsMargin, first.top(), names_width(), first.height()),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromStdString(parts_->bars[i].name));
    for (std::size_t k = 0; k < kStepPartCount; ++k) {
      const auto part = static_cast<StepPart>(k);
      painter.fillRect(box_of(i, part), brush_of(part, theme));
    }
  }
}

QString PartsBars::tip_at(QPoint at) const {
  for (std::size_t i = 0; parts_ && i < parts_->bars.size(); ++i) {
    const PartsBar& bar = parts_->bars[i];
    for (std::size_t k = 0; k < kStepPartCount; ++k) {
      const auto part = static_cast<StepPart>(k);
      if (!box_of(i, part).contains(at)) continue;
      return tr("%1: %2 %3, %4 of it")
          .arg(QString::fromStdString(bar.name), human_seconds(bar.of(part)),
               part_words(name(part)), human_share(bar.of(part) / parts_->step));
    }
  }
  return {};
}

bool PartsBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const QString tip = tip_at(help->pos());
  tip.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), tip, this);
  return true;
}

}  // namespace strata::gui
