#pragma once

// A case of a scenario, understood: what its settings mean for the studies. Values; thread-safe.

#include <cstddef>
#include <span>
#include <string>

#include "sim/ask/request.h"
#include "sim/scenario/scenario.h"

namespace strata {

struct Question {
  Job job = Job::predict;
  Request request;
  bool layers = false;   ///< whether each layer's config and costs are kept
  std::string settings;  ///< all of them, a JSON object in the order of keys
  std::string known_by;  ///< the same without names of files, whose content counts

  const CaseRequest& input() const { return case_of(request); }
  /// Of predictions and runs, else empty.
  std::string strategy() const;
  /// On which it is: a cluster, or devices.
  std::string where() const;
  /// "vgg16 on p100-4x4, strategy data", for messages.
  std::string name() const;
};

/// Files are named as seen from `folder`, the scenario's own. Throws InputError that names the
/// setting.
Question understand(Job job, std::span<const Setting> settings, const std::string& folder = {});

/// Case i of a sweep.
Question question_of(const Scenario& scenario, const Sweep& sweep, std::size_t i);

}  // namespace strata
