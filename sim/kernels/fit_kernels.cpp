#include "sim/kernels/fit_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counter_random.h"
#include "sim/base/quantile.h"
#include "sim/kernels/kernel_lookup.h"

namespace strata {
namespace {

constexpr std::size_t kRowsOfFit = 2500;
constexpr int kSweeps = 80;
constexpr double kFirstStep = 0.3, kRefitStep = 0.02, kLastStep = 0.005;  // logarithms
constexpr double kWorstLogError = 1;  // a row counts no more than that
constexpr std::size_t kParts = 5;

// Moves one parameter after another by a factor while that helps, by smaller ones where it does
// not.
std::vector<double> descend(std::vector<double> p,
                            const std::vector<std::pair<double, double>>& range,
                            const std::function<double(const std::vector<double>&)>& error,
                            double first_step = kFirstStep) {
  std::vector<double> step(p.size(), first_step);
  double best = error(p);
  const auto try_step = [&](std::size_t i, double log_factor) {
    std::vector<double> other = p;
    other[i] = std::clamp(p[i] * std::exp(log_factor), range[i].first, range[i].second);
    const double e = error(other);
    if (!(e < best)) return false;
    best = e, p = std::move(other);
    return true;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (!try_step(i, step[i]) && !try_step(i, -step[i])) step[i] *= 0.6;
    }
    if (*std::max_element(step.begin(), step.end()) < kLastStep) break;
  }
  return p;
}

// To four digits: more of them says nothing.
double rounded(double value) {
  return std::stod(fmt::format("{:.4g}", value));
}

// Every so-manieth row, with its place in the table.
std::vector<std::size_t> chosen_rows(std::size_t rows) {
  const std::size_t count = std::min(rows, kRowsOfFit);
  std::vector<std::size_t> chosen(count);
  for (std::size_t i = 0; i < count; ++i) chosen[i] = i * rows / count;
  return chosen;
}

template <class TimeOf>
double mean_error(const KernelTable& table, const std::vector<std::size_t>& chosen,
                  const TimeOf& time_of) {
  double sum = 0;
  for (std::size_t i : chosen) {
    const double log = std::abs(std::log(time_of(i).value / table.rows[i].seconds().value));
    sum += std::min(log, kWorstLogError);
  }
  return chosen.empty() ? 0 : sum / static_cast<double>(chosen.size());
}

std::vector<std::pair<double, double>> ranges(KernelKind kernel) {
  std::vector<std::pair<double, double>> range;
  for (const KernelParameter& p : facts(kernel).parameters) range.emplace_back(p.least, p.most);
  return range;
}

// The number of cores stays.
std::size_t fixed_parameter(KernelKind kernel) {
  const auto parameters = facts(kernel).parameters;
  return parameters.back().name == "cores" ? parameters.size() - 1 : parameters.size();
}

KernelTable with_rows(const KernelTable& table, std::vector<KernelRow> rows) {
  KernelTable other{table.kernel, table.dtype, {}, {}, {}, {}, table.parameters, {}, {}};
  other.rows = std::move(rows);
  return other;
}

// Rows of which `part` says that they are in it, and the others.
template <class In>
std::pair<std::vector<KernelRow>, std::vector<KernelRow>> parted(const std::vector<KernelRow>& rows,
                                                                 const In& in) {
  std::pair<std::vector<KernelRow>, std::vector<KernelRow>> parts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (in(i) ? parts.first : parts.second).push_back(rows[i]);
  }
  return parts;
}

// Errors of rows.
struct RowError {
  double seconds, table, roofline;
};

LeftOutErrors::Share share(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  return {quantile(errors, 0.5), quantile(errors, 0.95)};
}

LeftOutErrors::Size summed(const std::vector<RowError>& errors, double least) {
  std::vector<double> table, roofline;
  for (const RowError& e : errors) table.push_back(e.table), roofline.push_back(e.roofline);
  return {least, errors.size(), share(std::move(table)), share(std::move(roofline))};
}

LeftOutErrors by_size(std::vector<RowError> errors) {
  LeftOutErrors result;
  result.all = summed(errors, 0);
  std::sort(errors.begin(), errors.end(),
            [](const RowError& a, const RowError& b) { return a.seconds < b.seconds; });
  for (std::size_t i = 0; i < errors.size();) {
    const double decade = std::floor(std::log10(errors[i].seconds) + 1e-9);
    std::vector<RowError> part;
    while (i < errors.size() && std::floor(std::log10(errors[i].seconds) + 1e-9) == decade) {
      part.push_back(errors[i++]);
    }
    result.sizes.push_back(summed(part, std::pow(10, decade)));
  }
  return result;
}

void add_errors(const KernelTable& table, const std::vector<KernelRow>& rows,
                std::vector<RowError>& errors) {
  const KernelLookup times(table);
  const FittedRoofline roofline = fitted_roofline(table);
  for (const KernelRow& row : rows) {
    const Seconds model = modelled(table.kernel, table.dtype, table.parameters, row.shape);
    const Seconds time = times.between(row.shape).value_or(model);
    const Seconds line = roofline(table.kernel, table.dtype, row.shape);
    errors.push_back({row.seconds().value, std::abs(time / row.seconds() - 1),
                      std::abs(line / row.seconds() - 1)});
  }
}

}  // namespace

std::vector<double> fitted_parameters(const KernelTable& table, std::vector<double> from,
                                      double first_step) {
  const std::vector<std::size_t> chosen = chosen_rows(table.rows.size());
  const std::size_t fixed = fixed_parameter(table.kernel);
  auto range = ranges(table.kernel);
  if (fixed < range.size()) range[fixed] = {from[fixed], from[fixed]};
  std::vector<double> found = descend(
      std::move(from), range,
      [&](const std::vector<double>& p) {
        return mean_error(table, chosen, [&](std::size_t i) {
          return modelled(table.kernel, table.dtype, p, table.rows[i].shape);
        });
      },
      first_step);
  for (double& value : found) value = rounded(value);
  return found;
}

FittedRoofline fitted_roofline(const KernelTable& table) {
  const std::vector<std::size_t> chosen = chosen_rows(table.rows.size());
  double shortest = 1, fastest = 1, widest = 1;
  for (const KernelRow& row : table.rows) {
    const double seconds = row.seconds().value;
    shortest = std::min(shortest, seconds);
    fastest = std::max(fastest, kernel_flops(table.kernel, row.shape).value / seconds);
    widest = std::max(widest, kernel_bytes(table.kernel, table.dtype, row.shape) / seconds);
  }
  const auto as_roofline = [](const std::vector<double>& p) {
    return FittedRoofline{p[0], p[1], p[2]};
  };
  return as_roofline(descend({shortest, 0.9 * fastest, 0.9 * widest},
                             {{0, 1}, {1e6, 1e18}, {1e6, 1e18}}, [&](const std::vector<double>& p) {
                               const FittedRoofline roofline = as_roofline(p);
                               return mean_error(table, chosen, [&](std::size_t i) {
                                 return roofline(table.kernel, table.dtype, table.rows[i].shape);
                               });
                             }));
}

// Fits the model with a launch of its own and the growth; of that launch, what the kernel's is not
// is the measurement's.
CallOverhead fitted_overhead(const KernelTable& table, const std::vector<double>& from,
                             Seconds launch, bool grows) {
  const std::vector<std::size_t> chosen = chosen_rows(table.rows.size());
  const std::size_t fixed = fixed_parameter(table.kernel), last = from.size();
  auto range = ranges(table.kernel);
  if (fixed < range.size()) range[fixed] = {from[fixed], from[fixed]};
  range.emplace_back(0, grows ? 1 : 0);
  double mean = 0;
  for (std::size_t i : chosen) mean += table.rows[i].seconds().value;
  mean /= static_cast<double>(std::max<std::size_t>(1, chosen.size()));
  std::vector<double> start = from;
  const auto count = static_cast<double>(std::max<std::size_t>(1, table.rows.size()));
  start.push_back(grows ? 0.1 * mean / count : 0);
  const std::vector<double> p = descend(start, range, [&](const std::vector<double>& q) {
    return mean_error(table, chosen, [&](std::size_t i) {
      return modelled(table.kernel, table.dtype, q, table.rows[i].shape) +
             Seconds{q[last] * static_cast<double>(i)};
    });
  });
  return {Seconds{std::max(0.0, p[0] - launch.value)}, Seconds{p[last]}};
}

std::vector<KernelRow> without_overhead(const std::vector<KernelRow>& rows,
                                        const CallOverhead& overhead) {
  constexpr double kLeastLeft = 0.4;
  std::vector<KernelRow> left;
  left.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    KernelRow row = rows[i];
    row.ms -= 1e3 * (overhead.each.value + overhead.growth.value * static_cast<double>(i));
    row.ms = std::round(row.ms * 1e7) / 1e7;
    if (row.ms >= kLeastLeft * rows[i].ms) left.push_back(row);
  }
  return left;
}

// Rows are tried in four parts, each against all that are not of it and are still there; what is
// then no longer predicted well enough comes back.
KernelTable thinned(KernelTable table, double tolerance) {
  const std::vector<KernelRow> all = table.rows;
  std::vector<bool> kept(all.size(), true);
  constexpr std::size_t kTurns = 4;
  const auto off = [&](const KernelLookup& times, const KernelRow& row) {
    const auto seconds = times.between(row.shape);
    return !seconds || std::abs(*seconds / row.seconds() - 1) > tolerance;
  };
  const auto table_of = [&](const auto& in) { return with_rows(table, parted(all, in).first); };
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const auto tried = [&](std::size_t i) {
      return CounterRandom(1, "thinned").uniform(i) * kTurns;
    };
    const auto now = [&](std::size_t i) { return static_cast<std::size_t>(tried(i)) == turn; };
    const KernelTable others = table_of([&](std::size_t i) { return kept[i] && !now(i); });
    if (others.rows.empty()) continue;
    const KernelLookup times(others);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (now(i)) kept[i] = off(times, all[i]);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    const KernelTable left = table_of([&](std::size_t i) { return kept[i]; });
    const KernelLookup times(left);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!kept[i] && off(times, all[i])) kept[i] = changed = true;
    }
  }
  table.rows = table_of([&](std::size_t i) { return kept[i]; }).rows;
  return table;
}

LeftOutErrors left_out_errors(const KernelTable& table, std::uint64_t seed) {
  std::vector<RowError> errors;
  errors.reserve(table.rows.size());
  const CounterRandom random(seed, "left out");
  const auto part_of = [&](std::size_t i) {
    return static_cast<std::size_t>(random.uniform(i) * static_cast<double>(kParts));
  };
  for (std::size_t part = 0; part < kParts; ++part) {
    auto [out, in] = parted(table.rows, [&](std::size_t i) { return part_of(i) == part; });
    if (in.empty() || out.empty()) continue;
    KernelTable others = with_rows(table, std::move(in));
    others.parameters = fitted_parameters(others, table.parameters, kRefitStep);
    add_errors(others, out, errors);
  }
  return by_size(std::move(errors));
}

LeftOutErrors errors_of(const KernelTable& table, const std::vector<KernelRow>& rows) {
  std::vector<RowError> errors;
  errors.reserve(rows.size());
  add_errors(table, rows, errors);
  return by_size(std::move(errors));
}

}  // namespace strata
