#pragma once

// A chart of Results in the window. It shows what the mouse is at, goes to the row that is clicked
// and makes a brush of a rectangle that is dragged; arrows go from row to row, a double click or
// Enter opens one. Its picture is arranged anew only for other rows or another size, and a large
// one in a job, the one before standing meanwhile; an export waits for the new one.

#include <QImage>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "gui/models/jobs.h"
#include "gui/models/sweep/results.h"
#include "gui/widgets/sweep/result_picture.h"

namespace strata::gui {

class ResultCanvas : public QWidget {
  Q_OBJECT

 public:
  using MakePicture = std::function<std::shared_ptr<ResultPicture>(ResultSketch)>;

  /// `lane`: for the jobs that paint it.
  ResultCanvas(const QString& lane, MakePicture make, Results& results, Jobs& jobs,
               QWidget* parent = nullptr);

  void set_choice(const ChartChoice& choice);
  const ChartChoice& choice() const { return choice_; }
  /// What was arranged last; null before.
  const ResultPicture* picture() const { return picture_.get(); }
  QSize sizeHint() const override { return {560, 320}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  ResultSketch sketch() const;
  void forget_picture();
  std::shared_ptr<ResultPicture> arranged() const;
  /// The picture is of the rows, the filter and the size that there are now.
  bool newest() const;
  void paint_elsewhere(QPainter& painter);
  void paint_anew(double ratio);
  void paint_in_job(double ratio);
  void draw_over(QPainter& painter) const;

  std::optional<std::uint32_t> row_near(QPointF at) const;
  void click(QPointF at);
  void drag_to(QPointF at);
  void step(int by);
  QString tip(std::uint32_t row, const QString& note) const;

  QString lane_;
  MakePicture make_;
  Results& results_;
  Jobs& jobs_;
  ChartChoice choice_;
  std::shared_ptr<ResultPicture> picture_;
  QImage image_;
  bool stale_ = true;     ///< nobody has asked for the picture that is wanted
  bool waiting_ = false;  ///< a job arranges it
  std::optional<std::uint32_t> hovered_;
  std::optional<QPointF> pressed_;
  QRectF dragged_;
};

}  // namespace strata::gui
