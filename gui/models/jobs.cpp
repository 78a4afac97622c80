#include "gui/models/jobs.h"

#include <QMetaObject>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata::gui {

void Progress::report(double fraction, const std::string& text) {
  const std::scoped_lock lock(lock_);
  fraction_ = fraction;
  text_ = text;
}

Jobs::Jobs(QObject* parent) : QObject(parent) {
  pool_.setMaxThreadCount(std::max(4, QThread::idealThreadCount()));
}

Jobs::~Jobs() {
  for (auto& [name, lane] : lanes_) lane.current.progress->cancelled_ = true;
  pool_.waitForDone();
  saving_pool_.waitForDone();
}

void Jobs::start(QObject* receiver, const QString& lane, const QString& what, Work work,
                 std::function<void(QString)> failed, WhenStale when_stale) {
  Job job{receiver, what, std::move(work), std::move(failed), when_stale};
  const auto busy = lanes_.find(lane);
  if (busy == lanes_.end()) {
    lanes_[lane].current = job;
    launch(lane, job);
    emit changed();
    return;
  }
  if (busy->second.current.when_stale == WhenStale::cancel) {
    call_off(busy->second.current);
  }
  busy->second.waiting = std::move(job);
}

void Jobs::cancel(const QString& lane) {
  const auto busy = lanes_.find(lane);
  if (busy == lanes_.end()) return;
  busy->second.waiting.reset();
  call_off(busy->second.current);
}

void Jobs::stop(const QString& lane) {
  const auto busy = lanes_.find(lane);
  if (busy == lanes_.end()) return;
  busy->second.waiting.reset();
  Job& job = busy->second.current;
  job.stopped = !job.progress->cancelled_.exchange(true) || job.stopped;
}

void Jobs::call_off(Job& job) {
  job.progress->cancelled_ = true;
  job.stopped = false;
}

std::vector<JobState> Jobs::running() const {
  std::vector<JobState> states;
  for (const auto& [name, lane] : lanes_) {
    Progress& progress = *lane.current.progress;
    const std::scoped_lock lock(progress.lock_);
    states.push_back(
        {name, lane.current.what, QString::fromStdString(progress.text_), progress.fraction_});
  }
  return states;
}

Jobs::Outcome Jobs::work_through(const Work& work, Progress& progress) try {
  return {work(progress), {}};
} catch (const Cancelled&) {
  return {};
} catch (const Error& error) {
  return {{}, QString::fromStdString(error.message())};
} catch (const std::bad_alloc&) {
  return {{}, QStringLiteral("out of memory")};
} catch (const std::exception& error) {
  return {{}, QStringLiteral("internal error: ") + QString::fromUtf8(error.what())};
}

// The outcome comes back as an event of the window's thread, which is dropped when this dies.
void Jobs::launch(const QString& lane, const Job& job) {
  QThreadPool& pool = lane == kSavingLane ? saving_pool_ : pool_;
  pool.start([this, lane, work = job.work, progress = job.progress] {
    Outcome outcome = work_through(work, *progress);
    QMetaObject::invokeMethod(
        this, [this, lane, outcome = std::move(outcome)] { finish(lane, outcome); },
        Qt::QueuedConnection);
  });
}

void Jobs::finish(const QString& name, const Outcome& outcome) {
  Lane& lane = lanes_.at(name);
  const Job ended = std::move(lane.current);
  if (lane.waiting) {
    lane.current = std::move(*lane.waiting);
    lane.waiting.reset();
    launch(name, lane.current);
  } else {
    lanes_.erase(name);
  }
  const bool wanted = ended.stopped || !ended.progress->cancelled_;
  if (ended.receiver && wanted) {
    if (outcome.show) outcome.show();
    if (!outcome.error.isEmpty() && ended.failed) ended.failed(outcome.error);
  }
  emit changed();
}

}  // namespace strata::gui
