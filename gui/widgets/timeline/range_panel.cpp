#include "gui/widgets/timeline/range_panel.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <cmath>
#include <numeric>

#include "gui/models/text.h"
#include "gui/widgets/view.h"

namespace strata::gui {

RangePanel::RangePanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace) {
  auto* column = make_column(this);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 3, 8, 3);
  heading_ = new ElidedLabel;
  by_ = new QComboBox;
  by_->addItems({tr("by layer"), tr("by kind of work"), tr("by device")});
  by_->setAccessibleName(tr("What is added up"));
  bar->addWidget(heading_, 1);
  bar->addWidget(by_);
  column->addLayout(bar);
  model_ = new RangeSumTable(this);
  table_ = new FittedTable(model_, {RangeSumTable::kWhat});
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setFrameShape(QFrame::NoFrame);
  table_->sortByColumn(RangeSumTable::kCompute, Qt::DescendingOrder);
  table_->setAccessibleName(tr("Sums over the measured time"));
  column->addWidget(table_, 1);
  connect(by_, &QComboBox::currentIndexChanged, this, &RangePanel::add_up);
  connect(table_, &FittedTable::row_picked, this, [this](int row) {
    const LayerId layer = model_->rows()[static_cast<std::size_t>(row)].layer;
    if (layer.valid()) emit layer_picked(layer);
  });
  hide();
}

void RangePanel::show_range(const RecordingPtr& recording, const std::optional<TimeRange>& range) {
  if (recording == recording_ && range == range_) return;
  recording_ = recording;
  range_ = range;
  add_up();
}

void RangePanel::add_up() {
  if (!recording_ || !range_ || range_->length() <= Seconds{0}) return hide();
  workspace_.jobs().start(
      this, QStringLiteral("range_sums"), tr("Adding up the measured time"),
      [this, recording = recording_, range = *range_,
       by = static_cast<SumBy>(by_->currentIndex())](Progress&) -> Jobs::Show {
        return [this, range, sums = sum_range(*recording, range, by)] { show_sums(range, sums); };
      },
      [](const QString&) {}, WhenStale::show);
}

void RangePanel::show_sums(const TimeRange& range, const RangeSums& sums) {
  if (!recording_ || range_ != range) return;  // by now
  model_->show(sums.all, sums.rows);
  const auto sum = [&](double RangeSum::*part) {
    return std::accumulate(sums.rows.begin(), sums.rows.end(), 0.0,
                           [&](double all, const RangeSum& row) { return all + row.*part; });
  };
  const auto share = [&](double seconds) {
    return human_share(sums.all > 0 ? seconds / sums.all : 0);
  };
  const double devices = sums.all / range.length().value;
  heading_->setText(tr("%1 measured on %2, added up: devices compute %3 of it, communicate %4, %5 "
                       "uncovered by computation")
                        .arg(human_seconds(range.length()),
                             counted(static_cast<std::size_t>(std::lround(devices)), tr("device")),
                             share(sum(&RangeSum::compute)), share(sum(&RangeSum::communication)),
                             share(sum(&RangeSum::exposed))));
  show();
}

}  // namespace strata::gui
