#include "gui/widgets/measured/run_bar.h"

#include <QHBoxLayout>
#include <QThread>
#include <algorithm>
#include <cmath>

namespace strata::gui {
namespace {

QString default_devices() {
  return QStringLiteral("cpu:%1").arg(std::clamp(QThread::idealThreadCount(), 1, 4));
}

QSpinBox* count_box(int least, int most, int value, const QString& tip) {
  auto* box = new QSpinBox;
  box->setRange(least, most);
  box->setValue(value);
  box->setToolTip(tip);
  return box;
}

}  // namespace

RunBar::RunBar(QWidget* parent) : QWidget(parent) {
  devices_ = new QLineEdit(default_devices());
  devices_->setMaximumWidth(74);
  devices_->setToolTip(tr("This machine's devices: cpu:2 is two cores"));
  batch_ = count_box(1, 4096, 4, tr("The samples that each device computes in a step"));
  rounds_ =
      count_box(1, 100, 3,
                tr("How often measuring and running take turns. Two rounds that only time every "
                   "shard come before, to warm up: the search for a strategy is made of them."));
  button_ = new QPushButton(tr("Run"));
  button_->setToolTip(tr("Measure and run the strategy, or stop (Ctrl+R)"));
  progress_ = new QProgressBar;
  progress_->setTextVisible(true);
  progress_->hide();
  what_ = new ElidedLabel;
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 3, 8, 3);
  const auto add = [&](const QString& text, QWidget* field) {
    auto* label = new QLabel(text);
    label->setBuddy(field);
    layout->addWidget(label);
    layout->addWidget(field);
  };
  add(tr("Run on"), devices_);
  add(tr("samples each"), batch_);
  add(tr("rounds"), rounds_);
  layout->addWidget(button_);
  layout->addSpacing(8);
  layout->addWidget(progress_, 1);
  layout->addWidget(what_, 1);
  connect(button_, &QPushButton::clicked, this, &RunBar::run_or_stop_wanted);
  connect(devices_, &QLineEdit::returnPressed, this, &RunBar::run_or_stop_wanted);
}

RealRun RunBar::request(const Document& document) const {
  RealRun run;
  run.document = document;
  run.devices = devices_->text().trimmed().toStdString();
  run.batch_per_device = batch_->value();
  run.rounds = static_cast<std::size_t>(rounds_->value());
  return run;
}

void RunBar::show_state(const JobState* running, bool able) {
  stopping_ = stopping_ && running != nullptr;
  button_->setText(running == nullptr ? tr("Run") : stopping_ ? tr("Stopping") : tr("Stop"));
  button_->setEnabled(running != nullptr ? !stopping_ : able);
  progress_->setVisible(running != nullptr);
  what_->setVisible(running == nullptr);
  if (running == nullptr) return;
  const bool known = running->fraction >= 0;
  progress_->setRange(0, known ? 100 : 0);
  if (known) progress_->setValue(static_cast<int>(std::lround(100 * running->fraction)));
  progress_->setFormat(running->text);
}

void RunBar::show_stopping() {
  stopping_ = true;
  button_->setText(tr("Stopping"));
  button_->setEnabled(false);
}

void RunBar::show_what(const QString& what) {
  what_->setText(what);
}

}  // namespace strata::gui
