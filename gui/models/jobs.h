#pragma once

// Work that the window does not wait for. A job belongs to a lane ("scene", "solve"): of each lane
// one job runs at a time and one waits, and a newer job takes the waiting one's place. What comes
// of a job belongs to an object, and is dropped with it: no job needs to ask whether its view is
// still there. Lives in the window's thread.

#include <QObject>
#include <QPointer>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace strata::gui {

/// Everything that talks to devices takes turns in this lane: a Runner belongs to one job at a
/// time.
inline constexpr QLatin1String kRunnerLane("runner");
/// A search for the best strategy: one that is stopped shows the best that it has.
inline constexpr QLatin1String kSearchLane("solve");
/// What must not be lost is written in this lane, which never waits for the others.
inline constexpr QLatin1String kSavingLane("session");

/// A running job's ends of the line: it looks whether it was called off, and tells how far it is.
class Progress {
 public:
  const std::atomic<bool>* cancelled() const { return &cancelled_; }
  /// `fraction` of the work is done (0 to 1; less where nobody knows). Any thread.
  void report(double fraction, const std::string& text);

 private:
  friend class Jobs;
  std::atomic<bool> cancelled_ = false;
  std::mutex lock_;
  double fraction_ = -1;
  std::string text_;
};

/// What happens to a running job when a newer one of its lane comes.
enum class WhenStale : std::uint8_t {
  cancel,  ///< it is called off, and its result dropped
  show     ///< it ends, and its result is shown until the newer one's is there
};

struct JobState {
  QString lane, what, text;
  double fraction = -1;  ///< below 0: unknown
};

class Jobs : public QObject {
  Q_OBJECT

 public:
  /// What is done with a result, in the window's thread.
  using Show = std::function<void()>;
  /// In a worker's thread. Throws Cancelled, or an error, whose message `failed` gets.
  using Work = std::function<Show(Progress&)>;

  explicit Jobs(QObject* parent = nullptr);
  /// Calls all off and waits for them. Nothing is shown any more.
  ~Jobs() override;

  /// `receiver`: whom the result is for. Where it has died neither `Show` nor `failed` is called,
  /// so both may use it; the work is done nevertheless, and may not.
  void start(QObject* receiver, const QString& lane, const QString& what, Work work,
             std::function<void(QString)> failed, WhenStale when_stale = WhenStale::cancel);
  /// The running one and the waiting one.
  void cancel(const QString& lane);
  /// The running one is to end now, and what it has by then is shown; the waiting one is dropped.
  void stop(const QString& lane);

  bool idle() const { return lanes_.empty(); }
  bool busy(const QString& lane) const { return lanes_.contains(lane); }
  /// Those that run, by lane.
  std::vector<JobState> running() const;

 signals:
  /// One began or ended. How far they are is asked for, as often as somebody wants to know.
  void changed();

 private:
  struct Job {
    QPointer<QObject> receiver;
    QString what;
    Work work;
    std::function<void(QString)> failed;
    WhenStale when_stale = WhenStale::cancel;
    bool stopped = false;  ///< called off, but for what it has
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  };
  struct Lane {
    Job current;
    std::optional<Job> waiting;
  };
  struct Outcome {
    Show show;  ///< or nothing
    QString error;
  };

  static void call_off(Job& job);
  void launch(const QString& lane, const Job& job);
  void finish(const QString& lane, const Outcome& outcome);
  static Outcome work_through(const Work& work, Progress& progress);

  std::map<QString, Lane> lanes_;
  QThreadPool pool_, saving_pool_;
};

}  // namespace strata::gui
