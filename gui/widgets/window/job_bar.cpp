#include "gui/widgets/window/job_bar.h"

namespace strata::gui {

JobBar::JobBar(Jobs& jobs, QWidget* parent)
    : QWidget(parent),
      jobs_(jobs),
      text_(new ElidedLabel(this)),
      bar_(new QProgressBar(this)),
      cancel_(new QToolButton(this)) {
  setObjectName(QStringLiteral("job_bar"));
  text_->set_wanted_width(320);
  text_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  bar_->setFixedWidth(140);
  bar_->setMaximumHeight(14);
  bar_->setTextVisible(false);
  cancel_->setText(tr("Stop"));
  cancel_->setToolTip(tr("Call off what runs in the background"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  for (QWidget* widget : {static_cast<QWidget*>(text_), static_cast<QWidget*>(bar_),
                          static_cast<QWidget*>(cancel_)}) {
    row->addWidget(widget);
    widget->hide();
  }
  setFixedHeight(cancel_->sizeHint().height());  // idle, too: nothing moves when a job begins
  tick_.setInterval(200);
  connect(&tick_, &QTimer::timeout, this, &JobBar::show_jobs);
  connect(&jobs_, &Jobs::changed, this, &JobBar::follow);
  connect(cancel_, &QToolButton::clicked, this, &JobBar::stop_wanted);
}

void JobBar::follow() {
  if (!jobs_.idle()) {
    if (!tick_.isActive()) tick_.start();
    return;
  }
  tick_.stop();
  text_->hide();
  bar_->hide();
  cancel_->hide();
}

void JobBar::show_jobs() {
  const std::vector<JobState> running = jobs_.running();
  if (running.empty()) return;
  const JobState& job = running.front();
  QString text = job.text.isEmpty() ? job.what : job.what + QStringLiteral(": ") + job.text;
  if (running.size() > 1) text += tr(" (and %1 more)").arg(running.size() - 1);
  text_->setText(text);
  bar_->setRange(0, job.fraction < 0 ? 0 : 1000);
  if (job.fraction >= 0) bar_->setValue(static_cast<int>(job.fraction * 1000));
  text_->show();
  bar_->show();
  cancel_->show();
}

}  // namespace strata::gui
