#include "gui/widgets/what_if/knob_row.h"

#include <QEvent>
#include <QSignalBlocker>
#include <QStyle>
#include <cmath>
#include <initializer_list>

namespace strata::gui {
namespace {

constexpr int kSteps = 480;     // of the slider: finer than a hand
constexpr int kTogether = 700;  // milliseconds between keys that count as one turn

QSlider* make_slider(const QString& name, QWidget* parent) {
  auto* slider = new QSlider(Qt::Horizontal, parent);
  slider->setRange(0, kSteps);
  slider->setSingleStep(kSteps / 60);
  slider->setPageStep(kSteps / 12);
  slider->setAccessibleName(name);
  return slider;
}

}  // namespace

KnobRow::KnobRow(const Knob& knob, QWidget* parent) : QWidget(parent), knob_(knob) {
  setObjectName(QString::fromStdString(knob.key));
  recent_.setSingleShot(true);
  recent_.setInterval(kTogether);
  make_parts();
  lay_out();
  connect(slider_, &QSlider::sliderPressed, this, [this] {
    first_ = true;
    emit grabbed();
  });
  connect(slider_, &QSlider::valueChanged, this, &KnobRow::slide);
  connect(field_, &QLineEdit::editingFinished, this, [this] {
    if (!field_->isModified()) return;
    field_->setModified(false);
    emit grabbed();
    emit typed(field_->text());
  });
  connect(reset_, &QToolButton::clicked, this, &KnobRow::reset);
}

// A field that goes while it has the focus says that editing is finished.
KnobRow::~KnobRow() {
  field_->disconnect(this);
}

void KnobRow::make_parts() {
  const QString name = QString::fromStdString(knob_.title);
  title_ = new QLabel(name, this);
  title_->setToolTip(QString::fromStdString(knob_.key));
  slider_ = make_slider(name, this);
  slider_->installEventFilter(this);
  field_ = new QLineEdit(this);
  field_->setAccessibleName(name);
  field_->setAlignment(Qt::AlignRight);
  field_->setToolTip(knob_.counts() ? tr("A count; Enter applies it")
                                    : tr("A factor as \"2x\", or a value with its unit; "
                                         "empty: as it is"));
  meaning_ = new QLabel(this);
  meaning_->setForegroundRole(QPalette::PlaceholderText);
  reset_ = new QToolButton(this);
  reset_->setAutoRaise(true);
  reset_->setText(QString(QChar(0x21ba)));  // an arrow back round
  reset_->setAccessibleName(tr("Reset %1").arg(name));
  reset_->setToolTip(tr("As it was"));
  curve_ = new CurvePlot(this);
  curve_->set_margins(style()->pixelMetric(QStyle::PM_SliderLength, nullptr, slider_) / 2);
  curve_->hide();
}

void KnobRow::lay_out() {
  const QFontMetrics metrics(font());
  QFont bold = font();
  bold.setBold(true);  // as a title is that was turned
  title_width_ =
      QFontMetrics(bold).horizontalAdvance(QStringLiteral("Speed, the first (a straggler)")) + 6;
  field_->setFixedWidth(metrics.horizontalAdvance(QStringLiteral("100.25 GB/s")) + 16);
  meaning_->setFixedWidth(metrics.horizontalAdvance(QStringLiteral("000.25 GB/s")) + 6);
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 1, 0, 1);
  grid_->setVerticalSpacing(0);
  arrange(false);
}

int KnobRow::width_of_one_line() const {
  constexpr int kSlider = 70, kBetween = 6;
  return title_width_ + kSlider + field_->width() + meaning_->width() + reset_->sizeHint().width() +
         4 * kBetween;
}

// In a narrow view the title and what the value means stand above the slider.
void KnobRow::arrange(bool narrow) {
  narrow_ = narrow;
  for (QWidget* part :
       std::initializer_list<QWidget*>{title_, slider_, field_, meaning_, reset_, curve_}) {
    grid_->removeWidget(part);
  }
  const int row = narrow ? 1 : 0, column = narrow ? 0 : 1;
  grid_->addWidget(title_, 0, 0);
  grid_->addWidget(slider_, row, column);
  grid_->addWidget(field_, row, column + 1);
  grid_->addWidget(meaning_, 0, narrow ? 1 : 3, 1, narrow ? 2 : 1);
  grid_->addWidget(reset_, row, narrow ? 2 : 4);
  grid_->addWidget(curve_, row + 1, column);
  grid_->setColumnStretch(column, 1);
  grid_->setColumnStretch(1 - column, 0);
  meaning_->setAlignment((narrow ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  title_->setMinimumWidth(narrow ? 1 : title_width_);
  title_->setMaximumWidth(narrow ? QWIDGETSIZE_MAX : title_width_);
}

void KnobRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool narrow = width() < width_of_one_line();
  if (narrow != narrow_) arrange(narrow);
}

QSize KnobRow::minimumSizeHint() const {
  constexpr int kSlider = 60, kBetween = 6;
  return {kSlider + field_->width() + reset_->sizeHint().width() + 2 * kBetween,
          QWidget::minimumSizeHint().height()};
}

void KnobRow::show_document(const Document& document) {
  const double value = value_of(knob_, document);
  if (!slider_->isSliderDown()) {
    const QSignalBlocker quiet(slider_);
    slider_->setValue(static_cast<int>(std::lround(position_of(knob_, value) * kSteps)));
  }
  const std::string set = knob_.counts() ? std::string() : document.what_if(knob_.key);
  if (!field_->isModified()) {
    field_->setText(QString::fromStdString(set.empty() ? text_of(knob_, value) : set));
  }
  meaning_->setText(in_symbols(meaning_of(knob_, document)));
  reset_->setEnabled(value != knob_.usual);
  QFont bold = font();
  bold.setBold(value != knob_.usual);
  title_->setFont(bold);
}

void KnobRow::show_curve(bool visible) {
  curve_->setVisible(visible);
}

void KnobRow::slide(int position) {
  const bool continues = slider_->isSliderDown() ? !first_ : recent_.isActive();
  first_ = false;
  recent_.start();
  emit turned(value_at(knob_, static_cast<double>(position) / kSteps), continues);
}

bool KnobRow::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn) emit grabbed();
  // The wheel is for the list of knobs, until one was asked for.
  if (event->type() == QEvent::Wheel && !slider_->hasFocus()) {
    event->ignore();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace strata::gui
