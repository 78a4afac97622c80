#pragma once

// `strata profile`: measures what strategies of some networks compute, into a Profile. Single
// shards are measured, not steps: predictions of steps stay predictions. Not thread-safe, as a
// Runner is not.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/measure/calibrate.h"
#include "sim/measure/runner.h"
#include "sim/profile/profile.h"
#include "sim/search/asked_strategy.h"

namespace strata {

struct ProfileRequest {
  std::vector<std::string> models;  ///< zoo names or files
  OpenDims dims = {};               ///< of each of them
  std::string devices;              ///< as the Runner names them: "cpu:2"
  Training training = {};
  std::vector<AskedStrategy> strategies = {"data", "model", "owt", "optimal"};
  bool recorded = false;  ///< shards are launched as steps from a recording are; GPUs alone can
  std::size_t rounds = 15;
  std::string date, command;  ///< for the provenance; the date is ISO
};

struct ProfileReport {
  Profile profile;
  Disturbance disturbance;
  bool stopped =
      false;  ///< called off: rows are of fewer rounds, or missing; its provenance says so
};

/// Model after model, each in rounds. Called off, it gives the rows that were measured until then.
/// Throws InputError for a request that is not sound, Cancelled where there are no rows, and the
/// errors of the Runner.
ProfileReport measure_profile(Runner& runner, const ProfileRequest& request,
                              const std::atomic<bool>* cancelled = nullptr,
                              const std::function<void(const MeasureProgress&)>& progress = {});

/// Half the distance between quartiles over the median of each row: the median of all rows, and
/// what nine of ten stay below. 0 without rows.
struct RowSpread {
  double median = 0, p90 = 0;
};
RowSpread row_spread(std::span<const MeasuredCost> rows);

/// Throws InputError unless the profile may be merged into one that `older`, read from `file`, is:
/// one kind of device on one machine, as many of them at once where they share its memory.
void check_mergeable(const Profile& older, const std::string& file, const Runner& runner,
                     const std::string& devices);

}  // namespace strata
