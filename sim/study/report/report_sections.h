#pragma once

// The sections that a scenario asks for, filled with what a store answers. Not thread-safe, as a
// Store is not.

#include <optional>
#include <string>
#include <vector>

#include "sim/report/document.h"
#include "sim/scenario/scenario.h"
#include "sim/store/store.h"

namespace strata {

class SectionWriter {
 public:
  SectionWriter(Store& store, std::string scenario)
      : store_(store), scenario_(std::move(scenario)) {}

  /// Nothing where the section's query has no rows and `must` is false. What is wrong with a query,
  /// or with what it gives, stands in the section's errors, with file and line; what is right
  /// stands beside it.
  std::optional<Section> write(const ReportSection& from, bool must);

 private:
  /// Whether the section has anything to show.
  bool fill(const ReportSection& from, Section& section);
  std::vector<ReportClaim> claims(const ReportSection& from, Section& section);
  ReportClaim held(const ReportSection::Claim& claim);
  std::optional<double> number(const std::string& sql);

  Store& store_;
  std::string scenario_;
};

}  // namespace strata
