#pragma once

// Relations held to cases that are drawn from seeds, and what came of them.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/case/case_loader.h"

namespace strata::testing {

/// What one relation came to, over all cases.
struct Tally {
  std::uint64_t tried = 0, applied = 0, refused = 0, anomalies = 0;
  double largest_anomaly = 0;  ///< relative
};

/// A case in which something does not hold.
struct Fault {
  std::uint64_t seed = 0;
  std::string relation, what, text;  ///< `text`: the case
};

/// "sync=ps": what cases had, and two of them together.
using Said = std::string;

class Metamorphic {
 public:
  /// `folder`: an empty one, for the files of cases; those of faulty ones stay.
  explicit Metamorphic(std::string folder) : folder_(std::move(folder)) {}

  /// Holds every relation to the case of a seed; dear ones where their turn has come.
  void try_case(std::uint64_t seed);

  std::uint64_t cases() const { return cases_; }
  std::uint64_t refused() const { return refused_; }
  const std::vector<Fault>& faults() const { return faults_; }
  const std::map<std::string, Tally, std::less<>>& tallies() const { return tallies_; }
  /// Of the cases that were predicted: settings with a choice, and pairs of them.
  const std::set<std::pair<Said, Said>>& pairs() const { return pairs_; }
  /// Why cases were refused, with how many were for it: messages without their numbers and names.
  const std::map<std::string, std::uint64_t>& reasons() const { return reasons_; }
  /// A line for each relation.
  std::string report() const;

 private:
  std::string folder_;
  CaseLoader loader_;
  std::uint64_t cases_ = 0, refused_ = 0;
  std::vector<Fault> faults_;
  std::map<std::string, std::uint64_t> reasons_;
  std::map<std::string, Tally, std::less<>> tallies_;
  std::set<std::pair<Said, Said>> pairs_;
};

}  // namespace strata::testing
