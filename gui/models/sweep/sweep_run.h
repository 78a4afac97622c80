#pragma once

// A scenario that is swept from the window: checked and counted when it is opened, started, watched
// and stopped. What was answered is in the store, so it goes on where it was. Lives in the window's
// thread; everything that takes time is a job.

#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gui/models/jobs.h"
#include "sim/base/units.h"
#include "sim/study/sweep/sweep.h"

namespace strata::gui {

class SweepRun : public QObject {
  Q_OBJECT

 public:
  enum class State : std::uint8_t {
    none,      ///< no scenario
    counting,  ///< it is read, checked and counted
    ready,
    running,
    stopping
  };

  /// `runner` for scenarios with real runs; must outlive this.
  SweepRun(Runner& runner, Jobs& jobs, QObject* parent = nullptr);
  /// Calls it off.
  ~SweepRun() override;

  /// An empty database: the usual one, beside the scenario, ending in .db.
  void open(const std::string& scenario, const std::string& database = {});
  void start();
  void stop();

  State state() const { return state_; }
  /// As it was opened.
  const std::string& file() const { return file_; }
  const std::string& database() const { return database_; }
  /// Empty until it is counted.
  const std::string& name() const { return name_; }
  const SweepCount& count() const { return count_; }
  /// Whether it says what its report has; known once it is counted.
  bool has_report() const { return has_report_; }
  /// "12 of 30 cases are stored, 3 without an answer".
  QString text() const;
  /// What is left of the time, as the cases so far took it; while it runs and some are done.
  std::optional<Seconds> left() const;

 signals:
  void changed();  ///< state() or count(); at most twice a second while it runs
  void failed(const QString& message);

 private:
  struct Watched;

  QString lane() const;
  void counted(const Scenario& scenario, const SweepCount& count);
  void look();
  void ended();
  void become(State state);

  Runner& runner_;
  Jobs& jobs_;
  State state_ = State::none;
  std::string file_, database_, name_;
  bool measures_ = false;  ///< has real runs
  bool has_report_ = false;
  SweepCount count_;
  std::shared_ptr<Watched> watched_;
  std::chrono::steady_clock::time_point began_;
  QTimer timer_;
};

}  // namespace strata::gui
