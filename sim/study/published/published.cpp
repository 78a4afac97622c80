#include "sim/study/published/published.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "sim/ask/ask.h"
#include "sim/base/counter_random.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/base/quantile.h"
#include "sim/case/case_loader.h"
#include "sim/case/memory_need.h"

namespace strata {
namespace {

constexpr std::size_t kLeastRanked = 5, kLeastChoices = 2;

PublishedAnswer answer(CaseLoader& loader, const PublishedStep& step, const WhatIfs& more) {
  PredictRequest request;
  request.input = step.request;
  request.input.sets.insert(request.input.sets.end(), more.begin(), more.end());
  request.strategy = step.strategy;
  request.detail = step.memory ? Detail::memory : Detail::step;
  AskOptions options;
  options.loader = &loader;
  options.warnings = Warnings::none;
  const Answer answer = ask(request, options);
  const Case& input = *answer.input;
  const auto& predicted = std::get<std::vector<Predicted>>(answer.found).front();
  PublishedAnswer published{predicted.prediction.step_seconds(), sort_of(input),
                            input.cluster.device_count(), input.cluster.host_count(),
                            input.graph.parameters()};
  if (!step.memory) return published;
  const MemoryNeed need = memory_need(input, predicted.prediction);
  published.memory = need.kept + (step.memory->with_blocks ? need.blocks : Bytes{});
  published.fits = predicted.fits;
  return published;
}

// The number of a row before this one that is the same case, which sources measure more than once;
// this one's own where none is.
std::size_t first_alike(const PublishedTable& table, std::size_t row) {
  const PublishedStep& own = table.steps[row];
  const auto alike = [&](const PublishedStep& other) {
    return other.request == own.request && other.strategy == own.strategy;
  };
  return static_cast<std::size_t>(std::ranges::find_if(table.steps, alike) - table.steps.begin());
}

// Places of values in order; equal ones share the mean of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> places(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t k = first; k < last; ++k) {
      places[order[k]] = 0.5 * static_cast<double>(first + last - 1);
    }
    first = last;
  }
  return places;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(x.size() - 1);
  double both = 0, of_x = 0, of_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    both += (x[i] - mean) * (y[i] - mean);
    of_x += (x[i] - mean) * (x[i] - mean);
    of_y += (y[i] - mean) * (y[i] - mean);
  }
  return of_x > 0 && of_y > 0 ? both / std::sqrt(of_x * of_y) : 1;
}

// What exact predictions would have of values that spread around what was measured, the mean over
// draws. InternEvo's rows of one case spread by as much; NeMo's move by 3 to 6 % from one release
// to the next.
double exact_spearman(const std::vector<double>& measured) {
  constexpr double kSpread = 0.02;
  constexpr std::uint64_t kDraws = 100;
  const CounterRandom random(1, "measured");
  std::uint64_t drawn = 0;
  double sum = 0;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    std::vector<double> again = measured;
    for (double& value : again) value *= 1 + kSpread * random.normal(drawn++);
    sum += spearman(measured, again);
  }
  return sum / kDraws;
}

bool counts(const PublishedResult& result, std::size_t row, std::optional<bool> fitted) {
  return !fitted || result.table.steps[row].fitted == *fitted;
}

/// Predicted and measured, of rows that share a text.
struct Pairs {
  std::vector<double> predicted, measured;
};
std::map<std::string, Pairs> grouped(const PublishedResult& result, std::optional<bool> fitted,
                                     std::string PublishedStep::*by) {
  std::map<std::string, Pairs> groups;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    if (!counts(result, i, fitted)) continue;
    Pairs& group = groups[result.table.steps[i].*by];
    group.predicted.push_back(result.answers[i].predicted.value);
    group.measured.push_back(result.table.steps[i].measured.value);
  }
  return groups;
}

double regret(const Pairs& pairs) {
  const auto best = std::min_element(pairs.predicted.begin(), pairs.predicted.end());
  const double chosen = pairs.measured[static_cast<std::size_t>(best - pairs.predicted.begin())];
  return chosen / *std::min_element(pairs.measured.begin(), pairs.measured.end()) - 1;
}

}  // namespace

double PublishedResult::error(std::size_t row) const {
  return answers[row].predicted.value / table.steps[row].measured.value - 1;
}

PublishedResult predict_published(PublishedTable table, const WhatIfs& more,
                                  const std::function<void(std::size_t)>& progress) {
  const std::vector<PublishedStep>& steps = table.steps;
  std::vector<std::optional<PublishedAnswer>> answers(steps.size());
  std::vector<std::size_t> alike(steps.size()), asked;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    alike[i] = first_alike(table, i);
    if (alike[i] == i) asked.push_back(i);
  }
  CaseLoader loader;
  std::mutex lock;  // of what follows
  std::size_t done = 0;
  std::map<std::size_t, std::string> failures;
  parallel_for(asked.size(), 0, [&](std::size_t piece, unsigned) {
    const std::size_t row = asked[piece];
    {
      const std::lock_guard guard(lock);
      if (!failures.empty()) return;
    }
    try {
      answers[row] = answer(loader, steps[row], more);
    } catch (const InputError& error) {
      const std::lock_guard guard(lock);
      failures.emplace(row, error.message());
      return;
    }
    const std::lock_guard guard(lock);
    done += static_cast<std::size_t>(std::ranges::count(alike, row));
    progress(done);
  });
  if (!failures.empty()) {
    const auto& [row, message] = *failures.begin();
    throw InputError(fmt::format("{}:{}: {}", table.table_file, steps[row].line, message));
  }
  PublishedResult result{std::move(table), {}};
  for (std::size_t first : alike) result.answers.push_back(*answers[first]);
  return result;
}

PublishedTable without_framework(PublishedTable table) {
  std::erase_if(table.steps,
                [](const PublishedStep& step) { return step.request.framework == kNoFramework; });
  for (PublishedStep& step : table.steps) step.request = step.plain;
  return table;
}

MemorySummary memory_of(const PublishedResult& result) {
  MemorySummary summary;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    const std::optional<MeasuredMemory>& measured = result.table.steps[i].memory;
    if (!measured) continue;
    const PublishedAnswer& answer = result.answers[i];
    const double error =
        static_cast<double>(answer.memory.value) / static_cast<double>(measured->bytes.value) - 1;
    ++summary.rows;
    if (!answer.fits) ++summary.said_not_to_fit;
    summary.mean += std::abs(error);
    summary.bias += error;
    summary.worst = std::max(summary.worst, std::abs(error));
  }
  if (summary.rows == 0) return summary;
  summary.mean /= static_cast<double>(summary.rows);
  summary.bias /= static_cast<double>(summary.rows);
  return summary;
}

ErrorSummary errors_of(const PublishedResult& result, std::optional<bool> fitted) {
  std::vector<double> sizes;
  ErrorSummary summary;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    if (!counts(result, i, fitted)) continue;
    sizes.push_back(std::abs(result.error(i)));
    summary.bias += result.error(i);
  }
  summary.rows = sizes.size();
  if (sizes.empty()) return summary;
  const auto count = static_cast<double>(sizes.size());
  std::sort(sizes.begin(), sizes.end());
  summary.bias /= count;
  summary.mean = std::accumulate(sizes.begin(), sizes.end(), 0.0) / count;
  summary.median = quantile(sizes, 0.5);
  summary.p95 = quantile(sizes, 0.95);
  summary.worst = sizes.back();
  return summary;
}

RankSummary ranks_of(const PublishedResult& result, std::optional<bool> fitted) {
  RankSummary summary;
  summary.least = 1;
  for (const auto& [network, pairs] : grouped(result, fitted, &PublishedStep::network)) {
    if (pairs.measured.size() < kLeastRanked) continue;
    ++summary.networks;
    const double correlation = spearman(pairs.predicted, pairs.measured);
    summary.correlation += correlation;
    summary.least = std::min(summary.least, correlation);
    summary.exact += exact_spearman(pairs.measured);
  }
  for (const auto& [choice, pairs] : grouped(result, fitted, &PublishedStep::choice)) {
    if (pairs.measured.size() < kLeastChoices) continue;
    ++summary.choices;
    summary.regret += regret(pairs);
    summary.most_regret = std::max(summary.most_regret, regret(pairs));
  }
  if (summary.networks > 0) {
    summary.correlation /= static_cast<double>(summary.networks);
    summary.exact /= static_cast<double>(summary.networks);
  }
  if (summary.choices > 0) summary.regret /= static_cast<double>(summary.choices);
  return summary;
}

}  // namespace strata
