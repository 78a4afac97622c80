#include "gui/widgets/sweep/sweep_bar.h"

#include <QFileInfo>
#include <QHBoxLayout>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr int kFine = 1000;  // steps of the bar

}  // namespace

SweepBar::SweepBar(SweepRun& sweep, QWidget* parent)
    : QWidget(parent),
      sweep_(sweep),
      text_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      button_(new QPushButton(this)) {
  progress_->setTextVisible(false);
  progress_->setFixedHeight(10);
  progress_->setMinimumWidth(120);
  text_->setTextFormat(Qt::PlainText);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(8, 4, 8, 4);
  row->addWidget(text_);
  row->addWidget(progress_, 1);
  row->addWidget(button_);
  connect(button_, &QPushButton::clicked, this,
          [this] { sweep_.state() == SweepRun::State::running ? sweep_.stop() : sweep_.start(); });
  connect(&sweep_, &SweepRun::changed, this, &SweepBar::show_state);
  show_state();
}

void SweepBar::show_state() {
  using State = SweepRun::State;
  const State state = sweep_.state();
  setVisible(state != State::none);
  const SweepCount& count = sweep_.count();
  QString text = QFileInfo(QString::fromStdString(sweep_.file())).fileName() +
                 QStringLiteral(": ") + sweep_.text();
  if (const auto left = sweep_.left()) text += tr(", %1 left").arg(human_seconds(*left));
  text_->setText(text);
  text_->setToolTip(
      tr("%1\ninto %2")
          .arg(QString::fromStdString(sweep_.file()), QString::fromStdString(sweep_.database())));
  progress_->setRange(0, state == State::counting ? 0 : kFine);
  const std::size_t there = count.cases - count.left();
  progress_->setValue(count.cases == 0 ? 0 : static_cast<int>(there * kFine / count.cases));
  const bool begun = there > 0 && count.left() > 0;
  button_->setText(state == State::running    ? tr("&Stop")
                   : state == State::stopping ? tr("Stopping…")
                   : begun                    ? tr("Re&sume")
                                              : tr("&Start"));
  button_->setEnabled(state == State::running || (state == State::ready && count.left() > 0));
}

}  // namespace strata::gui
