#include "gui/widgets/sweep/result_canvas.h"

#include <QEvent>
#include <QPaintEngine>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/widgets/navigation.h"

namespace strata::gui {
namespace {

constexpr std::size_t kPaintedAtOnce = 3000;  // rows

}  // namespace

ResultCanvas::ResultCanvas(const QString& lane, MakePicture make, Results& results, Jobs& jobs,
                           QWidget* parent)
    : QWidget(parent), lane_(lane), make_(std::move(make)), results_(results), jobs_(jobs) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(200, 140);
  show_tips(this, [this](QPoint at) {
    const auto row = row_near(at);
    return row ? tip(*row, picture_->note_at(at)) : QString();
  });
  connect(&results_, &Results::changed, this, &ResultCanvas::forget_picture);
  connect(&results_, &Results::current_changed, this, qOverload<>(&QWidget::update));
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
  return {results_.all(),
          results_.rows(),
          QString::fromStdString(results_.why_empty()),
          results_.filter(),
          choice_,
          theme_of(palette()),
          font(),
          size()};
}

std::shared_ptr<ResultPicture> ResultCanvas::arranged() const {
  std::shared_ptr<ResultPicture> picture = make_(sketch());
  picture->arrange();
  return picture;
}

bool ResultCanvas::newest() const {
  return picture_ && !stale_ && !waiting_ && picture_->is_of(results_.all());
}

void ResultCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  // What is painted on: of a widget that is rendered into an image, the image.
  const double here = painter.paintEngine()->paintDevice()->devicePixelRatioF();
  const double ratio = std::max(devicePixelRatioF(), here);
  if (painter.paintEngine()->type() == QPaintEngine::SVG || ratio > devicePixelRatioF()) {
    return paint_elsewhere(painter);
  }
  if (stale_ || image_.devicePixelRatio() < ratio) paint_anew(ratio);
  painter.fillRect(rect(), theme_of(palette()).background);
  painter.drawImage(QPointF(), image_);
  draw_over(painter);
}

// Into a file: with its strokes, as large as it is there, and never of rows that are gone.
void ResultCanvas::paint_elsewhere(QPainter& painter) {
  if (!newest()) picture_ = arranged();
  picture_->paint(painter);
  draw_over(painter);
}

void ResultCanvas::paint_anew(double ratio) {
  stale_ = false;
  if (results_.all()->rows() > kPaintedAtOnce) return paint_in_job(ratio);
  jobs_.cancel(lane_);
  waiting_ = false;
  picture_ = arranged();
  image_ = picture_->image(ratio);
}

void ResultCanvas::paint_in_job(double ratio) {
  if (image_.isNull()) {
    image_ = QImage(1, 1, QImage::Format_ARGB32_Premultiplied);
    image_.fill(Qt::transparent);
  }
  image_.setDevicePixelRatio(ratio);
  waiting_ = true;
  jobs_.start(
      this, lane_, tr("Drawing a chart"),
      [this, ratio, picture = make_(sketch())](Progress&) -> Jobs::Show {
        picture->arrange();
        return [this, picture, image = picture->image(ratio)] {
          picture_ = picture;
          image_ = image;
          waiting_ = jobs_.busy(lane_);  // a newer one comes
          update();
        };
      },
      {}, WhenStale::show);
}

void ResultCanvas::draw_over(QPainter& painter) const {
  painter.setRenderHint(QPainter::Antialiasing);
  for (const auto& row : {results_.current(), hovered_}) {
    if (row && picture_ && picture_->is_of(results_.all())) picture_->mark(painter, *row);
  }
  if (dragged_.isEmpty()) return;
  const Theme colours = theme_of(palette());
  QColor inside = colours.accent;
  inside.setAlpha(50);
  painter.setPen(colours.accent);
  painter.setBrush(inside);
  painter.drawRect(dragged_);
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
