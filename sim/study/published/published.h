#pragma once

// Predictions beside what others measured and published: the error of each row, and how well the
// predictions rank what people choose from. Pure; thread-safe.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/report/document.h"
#include "sim/study/published/published_file.h"
#include "sim/trust/expected_error.h"
#include "sim/trust/prediction_sort.h"

namespace strata {

struct PublishedAnswer {
  Seconds predicted;
  PredictionSort sort = {};
  std::size_t devices = 0, hosts = 0;
  std::int64_t parameters = 0;  ///< of the network
  Bytes memory = {};            ///< as it was measured; 0 where nobody did
  bool fits = true;             ///< what the plan keeps
};

/// Of some rows of a table that were predicted.
struct ErrorSummary {
  std::size_t rows = 0;
  double mean = 0, median = 0, p95 = 0, worst = 0;  ///< of the error's size, as a share
  double bias = 0;                                  ///< the mean error with its sign
};

/// Over rows that share a network or a choice.
struct RankSummary {
  std::size_t networks = 0;  ///< of at least 5 rows
  double correlation = 0;    ///< Spearman's, the mean over networks
  double least = 0;          ///< the worst network's
  double exact = 0;          ///< what exact predictions would have where measured steps spread by
                             ///< 2 %, the mean over networks
  std::size_t choices = 0;   ///< of at least 2 rows
  double regret = 0;         ///< by how much the choice that is predicted best is slower than the
                             ///< best one: the mean over choices
  double most_regret = 0;
};

struct PublishedResult {
  PublishedTable table;
  std::vector<PublishedAnswer> answers;  ///< by step of the table

  double error(std::size_t row) const;  ///< predicted / measured - 1
};

/// Predicts every row, on all cores, with `more` what-ifs besides. Throws InputError "FILE:LINE:
/// ..." for the first row that is no case. `progress` is told how many rows are done, by one thread
/// at a time.
PublishedResult predict_published(PublishedTable table, const WhatIfs& more,
                                  const std::function<void(std::size_t)>& progress);

/// The same steps as no framework runs them. Rows stay fitted: profiles may be. No steps where the
/// table names no framework.
PublishedTable without_framework(PublishedTable table);

/// `fitted`: of the rows that something was fitted to, or of the others; both where not said.
ErrorSummary errors_of(const PublishedResult& result, std::optional<bool> fitted);
RankSummary ranks_of(const PublishedResult& result, std::optional<bool> fitted);

/// Of the memory of steps of which that was measured, whether something was fitted to them or not.
struct MemorySummary {
  std::size_t rows = 0, said_not_to_fit = 0;
  double mean = 0, worst = 0, bias = 0;  ///< of predicted / measured - 1
};
MemorySummary memory_of(const PublishedResult& result);

/// Which share of the rows that something was fitted to, or of the others, lies in the interval
/// that the other half would give; nothing where one of them has no rows.
std::optional<double> coverage_of(const PublishedResult& result, bool fitted);

/// Of rows that nothing was fitted to where there are any, else of all; shares to four digits. None
/// of a table that is not usual.
std::vector<ErrorRecord> error_records(std::span<const PublishedResult> results);

/// docs/fidelity.md.
ReportDocument published_report(std::span<const PublishedResult> results);

}  // namespace strata
