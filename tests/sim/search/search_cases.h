#pragma once

// Cases and options that several tests of searches begin with.

#include <string>

#include "sim/cost/cost_model.h"
#include "sim/profile/profile.h"
#include "sim/search/solve.h"

namespace strata::testing {

inline Case load(const std::string& model, const std::string& cluster) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  return load_case(request);
}

/// The case on devices that have so much memory.
inline Case with_memory(Case input, Bytes capacity) {
  Profile profile = load_profile("p100");
  profile.memory_capacity.value = capacity;
  for (auto& model : input.models) model = make_cost_model(profile);
  return input;
}

inline SolveOptions under_eq1() {
  SolveOptions options;
  options.objective = Objective::eq1;
  return options;
}

}  // namespace strata::testing
