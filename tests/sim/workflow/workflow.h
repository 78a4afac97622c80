#pragma once

// What a user does with one case, from its files to a sweep, and what must hold of every answer: it
// is finite and not negative, a plan that is printed and replayed ends when it was predicted to,
// the parts of a step add up to it, a device's memory holds its parameters, no bound lies above a
// step, and the same question has the same answer whoever asks it.

#include <cstdint>
#include <string>
#include <vector>

namespace strata::testing {

struct WorkflowFindings {
  std::vector<std::string> faults;   ///< what does not hold
  std::vector<std::string> refused;  ///< steps of the workflow that ended in an InputError, with it
};

/// Of a case drawn from the seed. `folder`: an empty one, for its files; they stay.
WorkflowFindings try_workflow(std::uint64_t seed, const std::string& folder);

}  // namespace strata::testing
