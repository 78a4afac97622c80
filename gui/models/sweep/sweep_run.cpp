#include "gui/models/sweep/sweep_run.h"

#include <QSysInfo>
#include <algorithm>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "gui/document/document.h"
#include "sim/base/parallel.h"

namespace strata::gui {
namespace {

constexpr int kWatchEvery = 500;  // milliseconds
constexpr QLatin1String kSweepLane("sweep");

bool has_runs(const Scenario& scenario) {
  return std::any_of(scenario.sweeps.begin(), scenario.sweeps.end(),
                     [](const Sweep& sweep) { return sweep.job == Job::run; });
}

// The same version as the command's: it is part of what a case is known by.
Invocation invocation_for(const std::string& scenario, const std::string& database) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {
      STRATA_VERSION,
      fmt::format("strata-gui: sweep {} --db {}", shell_quoted(scenario), shell_quoted(database)),
      QSysInfo::machineHostName().toStdString(),
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))};
}

SweepRequest sweep_request(const std::string& scenario, const std::string& database) {
  SweepRequest request;
  request.scenario = read_scenario(scenario);
  request.store = database;
  // One core is left to the window.
  request.threads = std::max(1U, core_count() - 1);
  request.invocation = invocation_for(scenario, database);
  return request;
}

}  // namespace

/// What a sweep tells from its thread.
struct SweepRun::Watched {
  std::mutex lock;
  SweepCount count;

  void tell(const SweepCount& now) {
    const std::scoped_lock guard(lock);
    count = now;
  }
};

SweepRun::SweepRun(Runner& runner, Jobs& jobs, QObject* parent)
    : QObject(parent), runner_(runner), jobs_(jobs) {
  timer_.setInterval(kWatchEvery);
  connect(&timer_, &QTimer::timeout, this, &SweepRun::look);
  connect(&jobs_, &Jobs::changed, this, &SweepRun::look);
}

SweepRun::~SweepRun() {
  if (state_ == State::running) jobs_.cancel(lane());
}

// A Runner belongs to one job at a time, and counting may ask it what devices there are.
QString SweepRun::lane() const {
  return measures_ || state_ == State::counting ? kRunnerLane : kSweepLane;
}

void SweepRun::open(const std::string& scenario, const std::string& database) {
  stop();
  file_ = scenario;
  database_ = database.empty() ? std::filesystem::path(scenario).replace_extension(".db").string()
                               : database;
  name_.clear();
  measures_ = has_report_ = false;
  count_ = {};
  watched_ = std::make_shared<Watched>();
  state_ = State::counting;
  jobs_.start(
      this, kRunnerLane,
      tr("Counting the cases of %1").arg(QString::fromStdString(shown_name(file_))),
      [this, &runner = runner_, watched = watched_, file = file_,
       store = database_](Progress&) -> Jobs::Show {
        const SweepRequest request = sweep_request(file, store);
        const SweepCount count = count_sweep(runner, request);
        return [this, watched, count, scenario = request.scenario] {
          if (watched == watched_) counted(scenario, count);
        };
      },
      [this, watched = watched_](const QString& message) {
        if (watched == watched_) emit failed(message);
      });
  become(State::counting);
}

void SweepRun::counted(const Scenario& scenario, const SweepCount& count) {
  name_ = scenario.name;
  measures_ = has_runs(scenario);
  has_report_ = !scenario.report.empty();
  count_ = count;
  become(State::ready);
}

void SweepRun::start() {
  if (state_ != State::ready) return;
  if (jobs_.busy(lane())) {
    emit failed(tr("the devices are busy with another run; start again when it has ended"));
    return;
  }
  watched_ = std::make_shared<Watched>();
  began_ = std::chrono::steady_clock::now();
  jobs_.start(
      this, lane(), tr("Sweeping %1").arg(QString::fromStdString(name_)),
      [&runner = runner_, watched = watched_, file = file_,
       store = database_](Progress& progress) -> Jobs::Show {
        const auto tell = [&](const SweepCount& now) {
          watched->tell(now);
          const double of = static_cast<double>(std::max<std::size_t>(1, now.cases));
          progress.report(1 - static_cast<double>(now.left()) / of,
                          fmt::format("{} of {}", now.cases - now.left(), now.cases));
        };
        const SweepCount count =
            sweep(runner, sweep_request(file, store), progress.cancelled(), tell);
        watched->tell(count);
        return {};
      },
      [this, watched = watched_](const QString& message) {
        if (watched == watched_) emit failed(message);
      },
      WhenStale::show);  // another scenario may be counted behind it
  timer_.start();
  become(State::running);
}

void SweepRun::stop() {
  if (state_ != State::running) return;
  jobs_.cancel(lane());
  become(State::stopping);
}

// One that was called off, or that another run took the place of, only ends.
void SweepRun::look() {
  if (!watched_ || state_ == State::none || state_ == State::ready) return;
  if (state_ != State::counting) {
    const std::scoped_lock guard(watched_->lock);
    count_ = watched_->count;
  }
  if (!jobs_.busy(lane())) return ended();
  if (state_ == State::running) emit changed();
}

void SweepRun::ended() {
  timer_.stop();
  become(name_.empty() ? State::none : State::ready);  // failed() has said why
}

void SweepRun::become(State state) {
  state_ = state;
  emit changed();
}

QString SweepRun::text() const {
  if (state_ == State::none) return {};
  if (name_.empty()) return state_ == State::counting ? tr("counting its cases") : QString();
  const SweepCount& count = count_;
  QString text = tr("%L1 of %L2 cases are stored").arg(count.cases - count.left()).arg(count.cases);
  if (count.failed > 0) text += tr(", %L1 without an answer").arg(count.failed);
  if (count.elsewhere > 0) text += tr(", %L1 at work elsewhere").arg(count.elsewhere);
  return text;
}

std::optional<Seconds> SweepRun::left() const {
  const std::size_t now = count_.done + count_.failed;
  if (state_ != State::running || now == 0) return std::nullopt;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
  return Seconds{took.count() / static_cast<double>(now) * static_cast<double>(count_.left())};
}

}  // namespace strata::gui
