#pragma once

// One knob: its name, a slider, a field for numbers, a button that puts it back, and, while it is
// the one that is turned, the curve over its range. Knows no workspace: what the user does, it
// says.

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <QWidget>
#include <optional>

#include "gui/models/what_if/knobs.h"
#include "gui/widgets/what_if/curve_plot.h"

namespace strata::gui {

class KnobRow : public QWidget {
  Q_OBJECT

 public:
  explicit KnobRow(const Knob& knob, QWidget* parent = nullptr);
  ~KnobRow() override;

  const Knob& knob() const { return knob_; }
  QSlider& slider() { return *slider_; }
  QLineEdit& field() { return *field_; }
  CurvePlot& curve() { return *curve_; }

  QSize minimumSizeHint() const override;

  /// What the document says; the slider stays where it is while it is dragged.
  void show_document(const Document& document);
  void show_curve(bool visible);

 signals:
  /// By the slider. `continues`: the same drag, or the same press of a key, goes on.
  void turned(double value, bool continues);
  void typed(const QString& text);
  void reset();
  /// The user is about to turn it.
  void grabbed();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_parts();
  void lay_out();
  void arrange(bool narrow);
  int width_of_one_line() const;
  void slide(int position);

  Knob knob_;
  QGridLayout* grid_ = nullptr;
  bool narrow_ = false;
  int title_width_ = 0;
  QLabel* title_;
  QSlider* slider_;
  QLineEdit* field_;
  QLabel* meaning_;
  QToolButton* reset_;
  CurvePlot* curve_;
  QTimer recent_;      ///< runs while what comes next continues what was
  bool first_ = true;  ///< of a drag
};

}  // namespace strata::gui
