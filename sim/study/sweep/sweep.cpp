#include "sim/study/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/ask/answers.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/study/sweep/check_scenario.h"

namespace strata {
namespace {

constexpr std::size_t kClaimsPerThread = 4;
constexpr std::size_t kWindow = 256;  // keys that one claim looks at
constexpr auto kLookAtCancelled = std::chrono::milliseconds(50);

/// Case i of a scenario.
struct Place {
  const Scenario* scenario = nullptr;
  const Sweep* sweep = nullptr;
  std::size_t index = 0;

  Question question() const { return question_of(*scenario, *sweep, index); }
};

/// A scenario's cases by key, as far as the shard goes; the first case of equal ones stands for
/// all.
class Cases {
 public:
  Cases(Answers& answers, const SweepRequest& request) {
    std::size_t ordinal = 0;
    for (const Sweep& sweep : request.scenario.sweeps) {
      for (std::size_t i = 0; i < sweep.count(); ++i, ++ordinal) {
        const Place place{&request.scenario, &sweep, i};
        const CaseKey key = answers.key(place.question());
        recorded_.push_back({sweep.name, key});
        const bool own = ordinal % request.shards == request.shard - 1;
        if (own && places_.emplace(key, place).second) keys_.push_back(key);
      }
    }
  }

  std::span<const CaseKey> keys() const { return keys_; }
  const std::vector<Store::ScenarioCase>& recorded() const { return recorded_; }
  Question question(CaseKey key) const { return places_.at(key).question(); }

 private:
  std::vector<CaseKey> keys_;                  // in order
  std::vector<Store::ScenarioCase> recorded_;  // of all shards
  std::map<CaseKey, Place> places_;
};

/// Threads that answer questions; the answers come back to the one that asks.
class Crew {
 public:
  Crew(Answers& answers, const Cases& cases, unsigned threads, const std::atomic<bool>* cancelled)
      : answers_(answers), cases_(cases), cancelled_(cancelled) {
    try {
      for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      end();
      throw EnvironmentError(error.what());
    }
  }
  ~Crew() { end(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void ask(CaseKey key) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(key);
      ++open_;
    }
    asking_.notify_one();
  }
  std::size_t open() {
    const std::lock_guard lock(mutex_);
    return open_;
  }

  /// No more questions: waits for those that are being answered, and gives what was not taken.
  std::deque<StoredResult> end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      asked_.clear();
    }
    asking_.notify_all();
    threads_.clear();
    return std::exchange(answered_, {});
  }

  /// The next answer, where one comes soon. Throws what a question threw.
  std::optional<StoredResult> next() {
    std::unique_lock lock(mutex_);
    answering_.wait_for(lock, kLookAtCancelled, [&] { return !answered_.empty() || error_; });
    if (error_) std::rethrow_exception(error_);
    if (answered_.empty()) return std::nullopt;
    StoredResult row = std::move(answered_.front());
    answered_.pop_front();
    --open_;
    return row;
  }

 private:
  std::optional<CaseKey> take() {
    std::unique_lock lock(mutex_);
    asking_.wait(lock, [&] { return ended_ || !asked_.empty(); });
    if (asked_.empty()) return std::nullopt;
    const CaseKey key = asked_.front();
    asked_.pop_front();
    return key;
  }

  void work() {
    while (const auto key = take()) {
      try {
        StoredResult row = answers_.answer(cases_.question(*key), cancelled_);
        const std::lock_guard lock(mutex_);
        answered_.push_back(std::move(row));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      answering_.notify_one();
    }
  }

  Answers& answers_;
  const Cases& cases_;
  const std::atomic<bool>* cancelled_;
  std::mutex mutex_;
  std::condition_variable asking_, answering_;
  std::deque<CaseKey> asked_;
  std::deque<StoredResult> answered_;
  std::size_t open_ = 0;  // asked for, and not handed back
  bool ended_ = false;
  std::exception_ptr error_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

class Sweeping {
 public:
  Sweeping(const SweepRequest& request, Answers& answers, const Cases& cases, Store& store,
           const std::atomic<bool>* cancelled,
           const std::function<void(const SweepCount&)>& progress)
      : request_(request),
        answers_(answers),
        cases_(cases),
        store_(store),
        cancelled_(cancelled),
        progress_(progress) {}

  SweepCount run() {
    count_.cases = cases_.keys().size();
    count_.before = count_.cases - store_.missing(cases_.keys()).size();
    tell();
    work();
    count_.elsewhere = store_.missing(cases_.keys()).size();
    const QueryResult unanswered =
        store_.query("SELECT count(*) FROM cases WHERE NOT done", request_.scenario.name);
    count_.unanswered =
        static_cast<std::size_t>(std::get<std::int64_t>(unanswered.rows.front().front()));
    return count_;
  }

 private:
  bool measures() const {
    return std::any_of(request_.scenario.sweeps.begin(), request_.scenario.sweeps.end(),
                       [](const Sweep& sweep) { return sweep.job == Job::run; });
  }

  // A run has the machine to itself.
  unsigned threads() const {
    if (measures()) return 1;
    return request_.threads == 0 ? core_count() : request_.threads;
  }

  void work() {
    Crew crew(answers_, cases_, threads(), cancelled_);
    try {
      while (work_through(crew)) continue;
    } catch (...) {
      keep_rest(crew);
      throw;
    }
  }

  // Everything that nobody else is at work on. Whether there was something: while it was done,
  // another process may have died and left more.
  bool work_through(Crew& crew) {
    pending_ = store_.missing(cases_.keys());
    looked_at_ = 0;
    claimed_ = false;
    while (claim(crew) || crew.open() > 0) {
      throw_if_cancelled(cancelled_);
      if (const auto row = crew.next()) keep(*row);
    }
    return claimed_;
  }

  // Where that fails, too, the first error is the one to be told.
  void keep_rest(Crew& crew) {
    try {
      for (const StoredResult& row : crew.end()) keep(row);
    } catch (const Error&) {
    }
  }

  // Whether there are still keys to look at.
  bool claim(Crew& crew) {
    const std::size_t wanted = kClaimsPerThread * threads();
    while (crew.open() < wanted && looked_at_ < pending_.size()) {
      const auto window = std::span<const CaseKey>(pending_).subspan(
          looked_at_, std::min(kWindow, pending_.size() - looked_at_));
      const std::vector<CaseKey> claimed = store_.claim(window, wanted);
      for (CaseKey key : claimed) crew.ask(key);
      claimed_ = claimed_ || !claimed.empty();
      looked_at_ += claimed.size() < wanted ? window.size() : past(window, claimed.back());
    }
    return looked_at_ < pending_.size();
  }

  static std::size_t past(std::span<const CaseKey> window, CaseKey key) {
    const auto at = std::find(window.begin(), window.end(), key);
    return static_cast<std::size_t>(at - window.begin()) + 1;
  }

  void keep(const StoredResult& row) {
    if (store_.store(row)) {
      ++(row.done ? count_.done : count_.failed);
    } else {
      ++count_.before;  // another process was as fast
    }
    tell();
  }

  void tell() const {
    if (progress_) progress_(count_);
  }

  const SweepRequest& request_;
  Answers& answers_;
  const Cases& cases_;
  Store& store_;
  const std::atomic<bool>* cancelled_;
  const std::function<void(const SweepCount&)>& progress_;
  std::vector<CaseKey> pending_;
  std::size_t looked_at_ = 0;
  bool claimed_ = false;
  SweepCount count_;
};

// An empty file is to become one.
bool has_store(const std::string& file) {
  std::error_code error;
  return std::filesystem::exists(file) && (std::filesystem::file_size(file, error) > 0 || error);
}

}  // namespace

SweepCount count_sweep(Runner& runner, const SweepRequest& request) {
  Answers answers(request.invocation.version, &runner);
  check_scenario(answers, request.scenario);
  const Cases cases(answers, request);
  SweepCount count;
  count.cases = cases.keys().size();
  if (!has_store(request.store)) return count;
  Store store(request.store, OpenMode::read);
  count.before = count.cases - store.missing(cases.keys()).size();
  return count;
}

SweepCount sweep(Runner& runner, const SweepRequest& request, const std::atomic<bool>* cancelled,
                 const std::function<void(const SweepCount&)>& progress) {
  if (!runner.is_one_process()) {
    throw InputError("strata sweep works in one process; allowed: the same without mpirun");
  }
  Answers answers(request.invocation.version, &runner);
  check_scenario(answers, request.scenario);
  const Cases cases(answers, request);
  Store store(request.store);
  store.enter(request.invocation);
  const Scenario& scenario = request.scenario;
  store.record_scenario(scenario.name, scenario.file, scenario.text, cases.recorded());
  return Sweeping(request, answers, cases, store, cancelled, progress).run();
}

}  // namespace strata
