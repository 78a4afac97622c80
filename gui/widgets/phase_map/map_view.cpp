#include "gui/widgets/phase_map/map_view.h"

#include <QHBoxLayout>
#include <algorithm>

#include "gui/models/text.h"
#include "sim/text/split.h"

namespace strata::gui {
namespace {

constexpr const char* kByHand = "by_hand";

MapAxis axis_in(const QComboBox& key, const QLineEdit& values) {
  MapAxis axis{key.currentData().toString().toStdString(), {}};
  for (const QString& value : values.text().split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    axis.values.push_back(value.trimmed().toStdString());
  }
  return axis;
}

QString values_text(const MapAxis& axis) {
  QStringList values;
  for (const std::string& value : axis.values) values << QString::fromStdString(value);
  return values.join(QLatin1String(", "));
}

}  // namespace

MapView::MapView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("phase_map"), tr("Phase map"), workspace, parent),
      run_(workspace.jobs()),
      drawing_(new QWidget(this)),
      canvas_(new MapCanvas(run_, drawing_)) {
  auto* body = new QWidget(this);
  auto* column = make_column(body);
  column->addWidget(make_bar());
  make_column(drawing_)->addWidget(canvas_, 1);
  column->addWidget(drawing_, 1);
  cell_ = new ElidedLabel;
  cell_->setObjectName(QStringLiteral("cell"));
  auto* foot = new QWidget(body);
  auto* line = new QHBoxLayout(foot);
  line->setContentsMargins(10, 4, 10, 4);
  line->addWidget(cell_);
  column->addWidget(foot);
  set_foot(foot);
  set_content(body);
  body->setFocusProxy(canvas_);
  show_legend();
  follow();
  add_key(
      QKeySequence(Qt::Key_S), [this] { start_or_stop(); }, canvas_);
  offer_axes();
  show_state();
}

QWidget* MapView::make_bar() {
  auto* bar = new QWidget(this);
  x_ = make_axis(tr("across"));
  y_ = make_axis(tr("up"));
  search_ = new QCheckBox(tr("Search"), bar);
  search_->setToolTip(
      tr("Searches for the fastest strategy in every cell, too: it wins where the usual ones and "
         "eq1 are more than 0.5 % slower. Takes long"));
  start_ = new QPushButton(bar);
  connect(start_, &QPushButton::clicked, this, &MapView::start_or_stop);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(10, 6, 10, 2);
  for (const AxisFields& axis : {x_, y_}) {
    row->addWidget(axis.key);
    row->addWidget(axis.values, 1);
  }
  row->addWidget(search_);
  row->addWidget(start_);
  return bar;
}

MapView::AxisFields MapView::make_axis(const QString& name) {
  AxisFields axis{new QComboBox(this), new QLineEdit(this)};
  axis.key->setAccessibleName(name);
  axis.key->setToolTip(tr("What differs %1").arg(name));
  axis.key->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  axis.key->setMinimumContentsLength(16);
  axis.values->setAccessibleName(tr("values %1").arg(name));
  axis.values->setToolTip(tr("The values %1, with commas between them").arg(name));
  axis.values->setMinimumWidth(70);
  connect(axis.key, &QComboBox::activated, this, [this, axis] {
    axis.key->setProperty(kByHand, true);
    show_usual_values(axis);
  });
  connect(axis.values, &QLineEdit::returnPressed, this, [this] {
    if (!run_.running()) start_or_stop();
  });
  return axis;
}

void MapView::follow() {
  connect(&run_, &MapRun::changed, this, &MapView::show_state);
  connect(&run_, &MapRun::failed, this, &MapView::on_failed);
  connect(canvas_, &MapCanvas::current_changed, this, &MapView::show_cell);
  connect(canvas_, &MapCanvas::open_wanted, this, &MapView::open_cell);
  connect(&workspace(), &Workspace::document_changed, this,
          [this] { when_seen([this] { show_desk(); }); });
  connect(&workspace(), &Workspace::scene_changed, this, [this] {
    when_seen([this] {
      offer_axes();
      show_desk();
    });
  });
}

// The numbers of the case on the desk; what was chosen by hand stays where the case has it.
void MapView::offer_axes() {
  const ScenePtr& scene = workspace().scene();
  show_instead(scene ? QString()
                     : tr("There is no case to map yet.\nOpen a network on a cluster."));
  if (!scene) return;
  std::vector<MapAxis> axes = usual_axes(scene->document.input, scene->input.cluster);
  if (axes == axes_) return;
  axes_ = std::move(axes);
  offer(x_, usual_x(axes_));
  offer(y_, usual_y(axes_));
}

void MapView::offer(const AxisFields& axis, const MapAxis& usual) {
  const QString chosen = axis.key->currentData().toString();
  axis.key->clear();
  for (const MapAxis& one : axes_) {
    axis.key->addItem(axis_title(one.key), QString::fromStdString(one.key));
  }
  const int before = axis.key->property(kByHand).toBool() ? axis.key->findData(chosen) : -1;
  const int now = before >= 0 ? before : axis.key->findData(QString::fromStdString(usual.key));
  axis.key->setCurrentIndex(now);
  if (axis.key->itemData(now).toString() != chosen) show_usual_values(axis);
}

void MapView::show_usual_values(const AxisFields& axis) {
  const std::string key = axis.key->currentData().toString().toStdString();
  const auto usual = std::ranges::find(axes_, key, &MapAxis::key);
  if (usual != axes_.end()) axis.values->setText(values_text(*usual));
}

PhaseMapRequest MapView::request() const {
  PhaseMapRequest request;
  request.input = workspace().document().input;
  request.x = axis_in(*x_.key, *x_.values);
  request.y = axis_in(*y_.key, *y_.values);
  if (search_->isChecked()) request.strategies.emplace_back("optimal");
  return request;
}

void MapView::start_or_stop() {
  if (run_.running()) return run_.stop();
  if (workspace().document().empty()) return;
  say({});
  canvas_->set_current(std::nullopt);
  run_.start(request());
  cases_ = cases_of(run_.request());
  show_legend();
  show_desk();
}

void MapView::on_failed(const QString& message) {
  cases_ = {};
  canvas_->set_current(std::nullopt);
  canvas_->set_desk(std::nullopt);
  say(message);
}

void MapView::say(const QString& text, bool stale) {
  says_stale_ = stale;
  notify(text);
}

// Of the strategies of the map.
void MapView::show_legend() {
  std::vector<std::string> names = run_.request().strategies;
  std::vector<LegendEntry> entries;
  entries.reserve(names.size() + 1);
  for (const std::string& name : names) {
    entries.push_back({QString::fromStdString(name),
                       [name](const Theme& theme) { return strategy_colour(name, theme); }});
  }
  entries.push_back({tr("no winner"), [](const Theme& theme) { return theme.grid; }});
  delete legend_;
  legend_ = new Legend(std::move(entries), drawing_);
  drawing_->layout()->addWidget(legend_);
}

void MapView::show_state() {
  start_->setText(run_.running() ? tr("&Stop (S)") : tr("&Map it (S)"));
  canvas_->update();
  show_cell();
}

// Where the case on the desk is, or that the map is of another one.
void MapView::show_desk() {
  const CaseRequest& input = workspace().document().input;
  const bool stale = !run_.map().cells.empty() && !is_map_of(run_.request(), input);
  canvas_->set_desk(stale ? std::nullopt : place_of(cases_, input));
  if (stale) {
    Document of;
    of.input = run_.request().input;
    say(tr("This map is of %1, as it was when it was drawn. S draws that of the case at hand.")
            .arg(QString::fromStdString(of.name())),
        true);
  } else if (says_stale_) {
    say({});
  }
}

void MapView::show_cell() {
  const PhaseMap& map = run_.map();
  const std::optional<MapPlace> place = canvas_->current();
  QString text;
  if (map.cells.empty()) {
    text = tr("Maps which of data, model, owt and eq1 is the fastest over two numbers of the case");
  } else if (run_.known() < map.cells.size()) {
    text = tr("%1 of %2 cells").arg(run_.known()).arg(map.cells.size());
  } else {
    text = tr("Lines: the winner changes. Enter or a double click opens a cell's case");
  }
  if (place && place->column < map.x.values.size() && place->row < map.y.values.size() &&
      run_.knows(place->column, place->row)) {
    text = cell_text(map, *place).replace(QLatin1Char('\n'), QStringLiteral("  ·  "));
  }
  cell_->setText(text);
}

// One step of undo.
void MapView::open_cell() {
  const std::optional<MapPlace> place = canvas_->current();
  if (!place || !run_.knows(place->column, place->row)) return;
  const MapCell& cell = run_.map().at(place->column, place->row);
  if (!cell.error.empty()) return say(QString::fromStdString(cell.error));
  workspace().edit(tr("cell of the phase map"),
                   document_of_cell(run_.request(), run_.map(), *place, workspace().document()));
}

QString MapView::command() const {
  if (!run_.map().cells.empty()) return map_command(run_.request());
  return workspace().document().empty() ? QString() : map_command(request());
}

std::vector<KeyHelp> MapView::keys() const {
  return {{QStringLiteral("S"), tr("draw the map of the case at hand; stop it")},
          {QStringLiteral("← → ↑ ↓"), tr("from cell to cell")},
          {tr("Enter, double click"), tr("open the cell's case, under its winner")}};
}

QString MapView::csv() const {
  return run_.known() == 0 ? QString() : map_csv(run_.map());
}

}  // namespace strata::gui
