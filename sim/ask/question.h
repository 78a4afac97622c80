#pragma once

// A case of a scenario, understood: what its settings mean for the studies. Values; thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/scenario/scenario.h"
#include "sim/search/solve.h"
#include "sim/train/run.h"

namespace strata {

struct Question {
  Job job = Job::predict;
  CaseRequest input;     ///< of predictions and solves
  RunRequest run;        ///< of runs
  std::string strategy;  ///< of predictions
  std::size_t steps = 4;
  std::optional<std::uint64_t> jitter;
  std::optional<Bytes> memory_limit;
  SearchOptions space;
  Objective objective = Objective::simulated;
  bool layers = false;   ///< whether each layer's config and costs are kept
  std::string settings;  ///< all of them, a JSON object in the order of keys
  std::string known_by;  ///< the same without names of files, whose content counts

  /// "vgg16 on p100-4x4, strategy data", for messages.
  std::string name() const;
};

/// Files are named as seen from `folder`, the scenario's own. Throws InputError that names the
/// setting.
Question understand(Job job, std::span<const Setting> settings, const std::string& folder = {});

/// Case i of a sweep.
Question question_of(const Scenario& scenario, const Sweep& sweep, std::size_t i);

}  // namespace strata
