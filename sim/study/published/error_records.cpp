#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/quantile.h"
#include "sim/study/published/published.h"

namespace strata {
namespace {

// "profiles/megatron-a100.toml": "megatron-a100".
std::string stem(const std::string& file) {
  const std::size_t begin = file.rfind('/') + 1;  // 0 where there is none
  return file.substr(begin, file.rfind('.') - begin);
}

double to_four_digits(double share) {
  return std::round(share * 1e4) / 1e4;
}

// Which rows of a result are of each sort.
using RowNumbers = std::vector<std::size_t>;
std::map<PredictionSort, RowNumbers> rows_by_sort(const PublishedResult& result) {
  std::map<PredictionSort, RowNumbers> sorts;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    sorts[result.answers[i].sort].push_back(i);
  }
  return sorts;
}

ExpectedError error_of(const PublishedResult& result, RowNumbers rows) {
  const auto fitted = [&](std::size_t row) { return result.table.steps[row].fitted; };
  ExpectedError error{stem(result.table.file), std::all_of(rows.begin(), rows.end(), fitted)};
  if (!error.fitted) std::erase_if(rows, fitted);
  error.rows = rows.size();
  std::vector<double> sizes;
  sizes.reserve(rows.size());
  for (std::size_t row : rows) {
    sizes.push_back(std::abs(result.error(row)));
    error.mean += sizes.back() / static_cast<double>(rows.size());
    error.devices = std::max(error.devices, result.answers[row].devices);
    error.hosts = std::max(error.hosts, result.answers[row].hosts);
    error.parameters = std::max(error.parameters, result.answers[row].parameters);
  }
  std::sort(sizes.begin(), sizes.end());
  error.mean = to_four_digits(error.mean);
  error.p95 = to_four_digits(quantile(sizes, 0.95));
  return error;
}

}  // namespace

std::vector<ErrorRecord> error_records(std::span<const PublishedResult> results) {
  std::vector<ErrorRecord> records;
  for (const PublishedResult& result : results) {
    for (auto& [sort, rows] : rows_by_sort(result)) {
      records.push_back({sort, error_of(result, std::move(rows))});
    }
  }
  return records;
}

}  // namespace strata
