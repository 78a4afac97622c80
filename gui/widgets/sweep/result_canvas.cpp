#include "gui/widgets/sweep/result_canvas.h"

#include <QEvent>
#include <QPaintEngine>
#include <QPainter>
#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

constexpr std::size_t kPaintedAtOnce = 3000;  // rows
constexpr double kSpotRadius = 7;

}  // namespace

ResultCanvas::ResultCanvas(const QString& lane, MakePicture make, Results& results, Jobs& jobs,
                           QWidget* parent)
    : QWidget(parent), lane_(lane), make_(std::move(make)), results_(results), jobs_(jobs) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(200, 140);
  connect(&results_, &Results::changed, this, &ResultCanvas::forget_picture);
  connect(&results_, &Results::current_changed, this, qOverload<>(&QWidget::update));
}

ResultCanvas::~ResultCanvas() {
  jobs_.cancel(lane_);
}

void ResultCanvas::set_choice(const ChartChoice& choice) {
  if (choice == choice_) return;
  choice_ = choice;
  forget_picture();
}

void ResultCanvas::forget_picture() {
  stale_ = true;
  hovered_.reset();
  update();
}

ResultSketch ResultCanvas::sketch() const {
  std::vector<char> shown(results_.all()->rows(), 0);
  for (const std::uint32_t row : results_.rows()) shown[row] = 1;
  return {results_.all(), results_.rows(),     std::move(shown), results_.filter(),
          choice_,        theme_of(palette()), font(),           size()};
}

// An SVG gets its strokes.
void ResultCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (painter.paintEngine()->type() == QPaintEngine::SVG) {
    make_(sketch())->paint(painter);
    return draw_over(painter);
  }
  const double ratio = std::max(devicePixelRatioF(), painter.device()->devicePixelRatioF());
  if (stale_ || image_.devicePixelRatio() < ratio) paint_anew(ratio);
  painter.fillRect(rect(), theme_of(palette()).background);
  painter.drawImage(QPointF(), image_);
  draw_over(painter);
}

void ResultCanvas::paint_anew(double ratio) {
  stale_ = false;
  if (results_.all()->rows() > kPaintedAtOnce) return paint_in_job(ratio);
  jobs_.cancel(lane_);
  picture_ = make_(sketch());
  image_ = picture_->image(ratio);
}

void ResultCanvas::paint_in_job(double ratio) {
  if (image_.isNull()) {
    image_ = QImage(1, 1, QImage::Format_ARGB32_Premultiplied);
    image_.fill(Qt::transparent);
  }
  image_.setDevicePixelRatio(ratio);
  jobs_.start(
      lane_, tr("Drawing a chart"),
      [this, ratio, make = make_, sketch = sketch()](Progress&) -> Jobs::Show {
        const std::shared_ptr<ResultPicture> picture = make(sketch);
        const QImage image = picture->image(ratio);
        return [this, picture, image] {
          picture_ = picture;
          image_ = image;
          update();
        };
      },
      {}, WhenStale::show);
}

void ResultCanvas::draw_over(QPainter& painter) const {
  painter.setRenderHint(QPainter::Antialiasing);
  for (const auto& row : {results_.current(), hovered_}) {
    if (row) draw_spot(painter, *row);
  }
  if (dragged_.isEmpty()) return;
  const Theme colours = theme_of(palette());
  QColor inside = colours.accent;
  inside.setAlpha(50);
  painter.setPen(colours.accent);
  painter.setBrush(inside);
  painter.drawRect(dragged_);
}

void ResultCanvas::draw_spot(QPainter& painter, std::uint32_t row) const {
  const auto at = picture_ ? picture_->spot_of(row) : std::nullopt;
  if (!at) return;
  painter.setPen(QPen(theme_of(palette()).text, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(*at, kSpotRadius, kSpotRadius);
}

void ResultCanvas::resizeEvent(QResizeEvent*) {
  forget_picture();
}

void ResultCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    forget_picture();
  }
  QWidget::changeEvent(event);
}

}  // namespace strata::gui
