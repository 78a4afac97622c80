#pragma once

// `strata report`: what a store holds of a scenario, as a document. A scenario's file says which
// sections there are; one that says nothing gets those of every sweep (usual_report.toml) for which
// there are rows. Not thread-safe, as a Store is not.

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/document.h"
#include "sim/store/store.h"

namespace strata {

struct ReportRequest {
  std::string store;
  std::optional<std::string> scenario;  ///< by name; else the newest, or all rows where none is
  /// Another store of the same scenario, beside the first: cases of equal settings are compared.
  std::optional<std::string> beside;
  /// Two strategies: cases that are equal but for them are compared.
  std::optional<std::pair<std::string, std::string>> strategies;
};

/// A section whose SQL does not run has its error in its place, and what is missing of the scenario
/// stands in the notes. Throws InputError for a store, scenario or strategy that is not there,
/// Cancelled where `cancelled` says so.
ReportDocument make_report(const ReportRequest& request,
                           const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
