#include "gui/widgets/sweep/result_charts.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "gui/models/sweep/result_table.h"
#include "gui/widgets/sweep/heat_picture.h"
#include "gui/widgets/sweep/parallel_picture.h"
#include "gui/widgets/sweep/points_picture.h"
#include "gui/widgets/view.h"

namespace strata::gui {
namespace {

QString item_text(const ResultColumn& column) {
  return QString::fromStdString(plain_name(column));
}

template <class Picture>
std::shared_ptr<ResultPicture> picture(ResultSketch sketch) {
  return std::make_shared<Picture>(std::move(sketch));
}

ResultCanvas::MakePicture points(PointsKind kind) {
  return [kind](ResultSketch sketch) -> std::shared_ptr<ResultPicture> {
    return std::make_shared<PointsPicture>(kind, std::move(sketch));
  };
}

std::string first_of(const ResultSet& results, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const auto at = results.find(name);
    if (at && results[*at].varies()) return name;
  }
  return {};
}

}  // namespace

ResultCharts::ResultCharts(Results& results, Jobs& jobs, QWidget* parent)
    : QWidget(parent),
      results_(results),
      jobs_(jobs),
      tabs_(new QTabBar(this)),
      stack_(new QStackedWidget(this)) {
  tabs_->setDrawBase(false);
  tabs_->setExpanding(false);
  tabs_->setUsesScrollButtons(false);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 4, 6, 4);
  bar->addWidget(tabs_);
  bar->addStretch(1);
  add_canvas(tr("Lines"), points(PointsKind::lines));
  add_canvas(tr("Heat map"), picture<HeatPicture>);
  add_canvas(tr("Pareto"), points(PointsKind::pareto));
  add_canvas(tr("Parallel"), picture<ParallelPicture>);
  add_side(tr("x"), &ChartChoice::x);
  add_side(tr("y"), &ChartChoice::y);
  add_side(tr("colour"), &ChartChoice::series);
  for (const Side& side : sides_) {
    bar->addSpacing(8);
    bar->addWidget(side.label);
    bar->addWidget(side.column);
  }
  auto* all = make_column(this);
  all->addLayout(bar);
  all->addWidget(stack_, 1);
  connect(tabs_, &QTabBar::currentChanged, this, [this](int kind) {
    stack_->setCurrentIndex(kind);
    show_choice();
  });
  connect(&results_, &Results::changed, this, &ResultCharts::take_over);
  take_over();
}

void ResultCharts::add_canvas(const QString& title, const ResultCanvas::MakePicture& make) {
  const QSignalBlocker quiet(tabs_);
  const QString lane = QStringLiteral("chart %1").arg(canvases_.size());
  canvases_.push_back(new ResultCanvas(lane, make, results_, jobs_, this));
  stack_->addWidget(canvases_.back());
  tabs_->addTab(title);
}

void ResultCharts::add_side(const QString& label, std::string ChartChoice::*choice) {
  Side side{new QLabel(label, this), new QComboBox(this), choice};
  side.label->setBuddy(side.column);
  side.column->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  side.column->setMinimumContentsLength(6);  // where the window is narrow
  side.column->setMaximumWidth(190);
  side.column->setAccessibleName(label);
  connect(side.column, &QComboBox::currentIndexChanged, this, &ResultCharts::take_choice);
  sides_.push_back(side);
}

void ResultCharts::take_over() {
  QStringList columns;
  for (const ResultColumn& column : results_.all()->columns()) {
    if (column.varies() && column.name != "error") columns << QString::fromStdString(column.name);
  }
  if (columns == columns_) return;
  columns_ = columns;
  for (const Side& side : sides_) {
    const QSignalBlocker quiet(side.column);
    side.column->clear();
    side.column->addItem(tr("none"), QString());
    for (const QString& name : columns_) {
      const auto at = results_.all()->find(name.toStdString());
      side.column->addItem(item_text((*results_.all())[*at]), name);
    }
  }
  for (const Kind kind : {lines, heat, pareto, parallel}) {
    canvas(kind).set_choice(kept_or_usual(kind));
  }
  show_choice();
}

// What somebody chose stays as long as its columns are there. What nobody chose follows the rows:
// the first of them seldom say what varies.
ChartChoice ResultCharts::kept_or_usual(Kind kind) const {
  const ResultSet& all = *results_.all();
  const ChartChoice& now = canvas(kind).choice();
  const auto there = [&](const std::string& name) { return name.empty() || all.find(name); };
  const bool kept = there(now.x) && there(now.y) && there(now.series);
  return by_hand_.at(kind) && kept ? now : usual(kind);
}

ChartChoice ResultCharts::usual(Kind kind) const {
  const ResultSet& all = *results_.all();
  const auto chosen = usual_columns(all);
  if (!chosen) return {};
  const std::string x = all[chosen->x].name, y = all[chosen->y].name;
  const std::string series = chosen->series ? all[*chosen->series].name : std::string();
  if (kind == pareto) return {y, first_of(all, {"peak_memory_bytes", "comm_bytes"}), series};
  if (kind == heat) return {x, series, y};
  return {x, y, series};
}

void ResultCharts::choose(Kind kind, const ChartChoice& choice) {
  by_hand_.at(kind) = true;
  canvas(kind).set_choice(choice);
  show_choice();
}

void ResultCharts::show_choice() {
  const ChartChoice& choice = canvas(kind()).choice();
  for (const Side& side : sides_) {
    const QSignalBlocker quiet(side.column);
    const int at = side.column->findData(QString::fromStdString(choice.*side.choice));
    side.column->setCurrentIndex(std::max(0, at));
    const bool used = kind() != parallel || side.choice == &ChartChoice::series;
    side.column->setVisible(used);
    side.label->setVisible(used);
  }
  layout()->activate();  // an export may come before the next event
}

void ResultCharts::take_choice() {
  ChartChoice choice;
  for (const Side& side : sides_) {
    choice.*side.choice = side.column->currentData().toString().toStdString();
  }
  choose(kind(), choice);
}

}  // namespace strata::gui
