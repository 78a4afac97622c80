#pragma once

// `strata sweep`: every case of a scenario answered, each answer in the store as soon as it is
// there. Whatever was stored before is not answered again, so a sweep that was killed goes on where
// it was; several processes may work on one store, each on cases of its own. The rows do not depend
// on the number of threads or processes (measured times apart). Not thread-safe.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "sim/measure/runner.h"
#include "sim/scenario/scenario.h"
#include "sim/store/store.h"

namespace strata {

struct SweepRequest {
  Scenario scenario;
  std::string store;     ///< a file
  unsigned threads = 0;  ///< 0: all cores. Runs are done one by one, whatever it is
  /// Only every shards-th case, from the shard-th on, counted from 1: one of the jobs of an array.
  std::size_t shard = 1, shards = 1;
  Invocation invocation;
};

struct SweepCount {
  std::size_t cases = 0;       ///< of this shard; equal ones count once
  std::size_t before = 0;      ///< had been stored when the sweep began
  std::size_t done = 0;        ///< stored now, with an answer
  std::size_t failed = 0;      ///< stored now, with the reason why there is no answer
  std::size_t elsewhere = 0;   ///< other processes are at work on them
  std::size_t unanswered = 0;  ///< of the whole scenario: stored without an answer, now or before

  std::size_t left() const { return cases - before - done - failed - elsewhere; }
};

/// How many cases there are, and how many of them are stored (none where there is no file); the
/// scenario is checked as sweep() checks it.
SweepCount count_sweep(Runner& runner, const SweepRequest& request);

/// Throws InputError for a scenario with wrong names, files or what-ifs, before anything is stored,
/// EnvironmentError where the store can't be written (earlier rows are safe), Cancelled when called
/// off (what was answered is stored).
SweepCount sweep(Runner& runner, const SweepRequest& request,
                 const std::atomic<bool>* cancelled = nullptr,
                 const std::function<void(const SweepCount&)>& progress = {});

}  // namespace strata
