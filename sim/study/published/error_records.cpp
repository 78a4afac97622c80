#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
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

// Student's t of 95 %, by degrees of freedom from 1.
constexpr std::array<double, 18> kStudent = {6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83,
                                             1.81, 1.80, 1.78, 1.77, 1.76, 1.75, 1.75, 1.74, 1.73};
// Of a single row: assumed, for one row does not tell how far others are from it.
constexpr double kOneRowApart = 0.25;  // of a logarithm

// Between which of them, or of others like them, 90 of 100 lie. Where they are too few for ranks to
// tell, as if their logarithms were normally distributed.
std::pair<double, double> ninety_of_hundred(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  if (ratios.size() > kStudent.size() + 1) return {quantile(ratios, 0.05), quantile(ratios, 0.95)};
  const auto count = static_cast<double>(ratios.size());
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += std::log(ratio) / count;
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - mean, 2);
  double apart = kOneRowApart;
  if (ratios.size() > 1) {
    apart = kStudent[ratios.size() - 2] * std::sqrt(squares / (count - 1) * (1 + 1 / count));
  }
  return {std::exp(mean - apart), std::exp(mean + apart)};
}

ExpectedError error_of(const PublishedResult& result, RowNumbers rows) {
  const auto fitted = [&](std::size_t row) { return result.table.steps[row].fitted; };
  ExpectedError error{stem(result.table.file), std::all_of(rows.begin(), rows.end(), fitted)};
  if (!error.fitted) std::erase_if(rows, fitted);
  error.rows = rows.size();
  std::vector<double> sizes, ratios;
  for (std::size_t row : rows) {
    sizes.push_back(std::abs(result.error(row)));
    ratios.push_back(1 / (1 + result.error(row)));
    error.mean += sizes.back() / static_cast<double>(rows.size());
    error.devices = std::max(error.devices, result.answers[row].devices);
    error.hosts = std::max(error.hosts, result.answers[row].hosts);
    error.parameters = std::max(error.parameters, result.answers[row].parameters);
  }
  std::sort(sizes.begin(), sizes.end());
  error.mean = to_four_digits(error.mean);
  error.p95 = to_four_digits(quantile(sizes, 0.95));
  const auto [low, high] = ninety_of_hundred(std::move(ratios));
  error.low = to_four_digits(low);
  error.high = to_four_digits(high);
  return error;
}

std::vector<double> ratios_of(const PublishedResult& result, bool fitted) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    if (result.table.steps[i].fitted == fitted) ratios.push_back(1 / (1 + result.error(i)));
  }
  return ratios;
}

}  // namespace

std::optional<double> coverage_of(const PublishedResult& result, bool fitted) {
  const std::vector<double> judged = ratios_of(result, fitted), others = ratios_of(result, !fitted);
  if (judged.empty() || others.empty()) return std::nullopt;
  const auto [low, high] = ninety_of_hundred(others);
  const auto within = [low = low, high = high](double ratio) {
    return low <= ratio && ratio <= high;
  };
  return static_cast<double>(std::ranges::count_if(judged, within)) /
         static_cast<double>(judged.size());
}

std::vector<ErrorRecord> error_records(std::span<const PublishedResult> results) {
  std::vector<ErrorRecord> records;
  for (const PublishedResult& result : results) {
    if (!result.table.usual) continue;
    for (auto& [sort, rows] : rows_by_sort(result)) {
      records.push_back({sort, error_of(result, std::move(rows))});
    }
  }
  return records;
}

}  // namespace strata
