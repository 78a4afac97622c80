#pragma once

// How far off predictions of a sort have been: what profiles/published/errors.csv, which
// `strata validate --published -o` writes, says of the published steps that ship. Pure;
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trust/prediction_sort.h"

namespace strata {

struct ExpectedError {
  std::string figures;          ///< their name: "megatron-a100"
  bool fitted = false;          ///< something in Strata was fitted to them
  std::size_t rows = 0;         ///< steps that were compared
  std::size_t devices = 0;      ///< the most of a step
  std::size_t hosts = 0;        ///< likewise
  std::int64_t parameters = 0;  ///< of the largest network
  double mean = 0, p95 = 0;     ///< of the error's size, as a share of what was measured
  double low = 1, high = 1;     ///< between these 90 of 100 lie: measured over predicted
  bool operator==(const ExpectedError&) const = default;
};
struct ErrorRecord {
  PredictionSort sort;
  ExpectedError error;
  bool operator==(const ErrorRecord&) const = default;
};

/// profiles/published/errors.csv.
std::string print_errors(std::span<const ErrorRecord> records);
/// Throws InputError "FILE:LINE: ..." for what is no such table.
std::vector<ErrorRecord> parse_errors(std::string_view text, const std::string& file);

/// Those of `profiles/published`.
const std::vector<ErrorRecord>& shipped_errors();

/// Whether an answer rests on nothing but names: no profile, cluster or what-if of its own.
bool is_of_names(const CaseRequest& request);

/// Of the case that the request was loaded as. Nothing where no published step is of its sort, or
/// each has fewer devices, hosts or parameters than it has, and where the request brings profiles,
/// clusters or what-ifs of its own; of several the one with the most rows.
std::optional<ExpectedError> expected_error(const CaseRequest& request, const Case& input);

}  // namespace strata
