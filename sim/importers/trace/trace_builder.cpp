#include "sim/importers/trace/trace_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

constexpr std::uint32_t kNoSlice = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostSlices = kNoSlice - 1;

double required(std::optional<double> value, std::string_view key, const TraceEvent& event) {
  if (value) return *value;
  throw InputError(fmt::format("an event of phase {} needs '{}'", event.phase, key));
}

}  // namespace

void TraceBuilder::add(const TraceEvent& event) {
  if (event.phase.empty()) throw InputError("an event needs 'ph', its phase");
  if (event.phase == "X") return add_slice(event);
  if (event.phase == "M") return add_name(event);
  if (event.phase == "C") return add_value(event);
  if (event.phase == "s" || event.phase == "f") return add_arrow_end(event);
  ++trace_.passed_over;
}

Seconds TraceBuilder::time_of(const TraceEvent& event) const {
  return {required(event.begin, "ts", event) * 1e-6};
}

void TraceBuilder::add_slice(const TraceEvent& event) {
  if (trace_.slices.size() >= kMostSlices) throw InputError("more slices than 4 billion");
  const Seconds begin = time_of(event);
  const Seconds length{required(event.duration, "dur", event) * 1e-6};
  if (length < Seconds{}) throw InputError("'dur' of an event must not be negative");
  trace_.slices.push_back({thread(event), intern(event.name), intern(event.category), begin,
                           begin + length, trace_.args.size(),
                           static_cast<std::uint32_t>(event.args.size())});
  trace_.args += event.args;
}

void TraceBuilder::add_name(const TraceEvent& event) {
  const auto name = event.text("name", args_);
  if (event.name == "process_name" && name) process(event.process).name = *name;
  if (event.name == "thread_name" && name) threads_[thread(event)].second.name = *name;
  const auto order = event.number("sort_index", args_);
  if (event.name == "process_sort_index" && order) process(event.process).order = *order;
  if (event.name == "thread_sort_index" && order) threads_[thread(event)].second.order = *order;
}

void TraceBuilder::add_value(const TraceEvent& event) {
  const auto value = event.first_number(args_);
  if (!value) return;
  process(event.process);
  counters_[{std::string(event.process), std::string(event.name)}].emplace_back(time_of(event),
                                                                                *value);
}

void TraceBuilder::add_arrow_end(const TraceEvent& event) {
  Arrow& arrow = arrows_[std::string(event.id)];
  (event.phase == "s" ? arrow.from : arrow.to).push_back({thread(event), time_of(event)});
}

TraceBuilder::Row& TraceBuilder::process(std::string_view id) {
  const auto known = processes_.find(id);
  if (known != processes_.end()) return known->second;
  return processes_.emplace(std::string(id), Row{"", 0, processes_.size()}).first->second;
}

std::uint32_t TraceBuilder::thread(const TraceEvent& event) {
  process(event.process);
  const ThreadKey key(event.process, event.thread);
  const auto [known, is_new] =
      thread_numbers_.try_emplace(key, static_cast<std::uint32_t>(threads_.size()));
  if (is_new) threads_.emplace_back(key, Row{"", 0, threads_.size()});
  return known->second;
}

std::uint32_t TraceBuilder::intern(std::string_view text) {
  const auto [known, is_new] =
      names_.try_emplace(std::string(text), static_cast<std::uint32_t>(trace_.names.size()));
  if (is_new) trace_.names.emplace_back(text);
  return known->second;
}

Trace TraceBuilder::build() && {
  begin_at_zero();
  order_threads();
  order_slices();
  take_counters();
  tie_arrows();
  return std::move(trace_);
}

void TraceBuilder::begin_at_zero() {
  Seconds first{std::numeric_limits<double>::infinity()};
  for (const TraceSlice& slice : trace_.slices) first = std::min(first, slice.begin);
  for (const auto& [key, values] : counters_) {
    for (const auto& [at, value] : values) first = std::min(first, at);
  }
  for (TraceSlice& slice : trace_.slices) {
    slice.begin -= first;
    slice.end -= first;
    trace_.end = std::max(trace_.end, slice.end);
  }
  for (auto& [key, values] : counters_) {
    for (auto& [at, value] : values) trace_.end = std::max(trace_.end, at -= first);
  }
  for (auto& [id, arrow] : arrows_) {
    for (ArrowEnd& end : arrow.from) end.at -= first;
    for (ArrowEnd& end : arrow.to) end.at -= first;
  }
}

std::string TraceBuilder::process_name(const std::string& id) const {
  const Row& row = processes_.at(id);
  return row.name.empty() ? fmt::format("process {}", id) : row.name;
}

std::string TraceBuilder::thread_name(const ThreadKey& key) const {
  const Row& row = threads_[thread_numbers_.at(key)].second;
  return row.name.empty() ? fmt::format("thread {}", key.second) : row.name;
}

// Threads that hold no slice have no row.
void TraceBuilder::order_threads() {
  std::vector<bool> used(threads_.size());
  for (const TraceSlice& slice : trace_.slices) used[slice.thread] = true;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  const auto place = [&](std::uint32_t i) {
    const auto& [key, row] = threads_[i];
    const Row& process = processes_.at(key.first);
    return std::tuple(process.order, process.number, row.order, row.number);
  };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return place(a) < place(b); });
  std::vector<std::uint32_t> number(threads_.size(), kNoSlice);
  for (const std::uint32_t i : order) {
    number[i] = static_cast<std::uint32_t>(trace_.threads.size());
    const ThreadKey& key = threads_[i].first;
    trace_.threads.push_back({process_name(key.first), thread_name(key), key.first});
  }
  for (TraceSlice& slice : trace_.slices) slice.thread = number[slice.thread];
  for (auto& [id, arrow] : arrows_) {
    for (ArrowEnd& end : arrow.from) end.thread = number[end.thread];
    for (ArrowEnd& end : arrow.to) end.thread = number[end.thread];
  }
}

void TraceBuilder::order_slices() {
  const auto earlier = [](const TraceSlice& a, const TraceSlice& b) {
    return std::tuple(a.thread, a.begin, b.end) < std::tuple(b.thread, b.begin, a.end);
  };
  std::stable_sort(trace_.slices.begin(), trace_.slices.end(), earlier);
  first_slice_.assign(trace_.threads.size() + 1, 0);
  for (const TraceSlice& slice : trace_.slices) ++first_slice_[slice.thread + 1];
  std::partial_sum(first_slice_.begin(), first_slice_.end(), first_slice_.begin());
}

void TraceBuilder::take_counters() {
  for (auto& [key, values] : counters_) {
    const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(values.begin(), values.end(), earlier);
    trace_.counters.push_back({process_name(key.first), key.second, std::move(values)});
  }
}

// The innermost slice of the thread that holds the time; of two that meet there, the later one.
std::uint32_t TraceBuilder::slice_at(const ArrowEnd& end) const {
  if (end.thread == kNoSlice) return kNoSlice;
  constexpr std::size_t kDeepest = 64;
  constexpr Seconds kRounding{1e-12};
  const auto begin = trace_.slices.begin();
  const auto first = begin + static_cast<std::ptrdiff_t>(first_slice_[end.thread]);
  const auto last = begin + static_cast<std::ptrdiff_t>(first_slice_[end.thread + 1]);
  auto after = std::partition_point(
      first, last, [&](const TraceSlice& slice) { return slice.begin <= end.at + kRounding; });
  for (std::size_t depth = 0; after != first && depth < kDeepest; ++depth) {
    --after;
    if (after->end + kRounding >= end.at) return static_cast<std::uint32_t>(after - begin);
  }
  return kNoSlice;
}

void TraceBuilder::tie_arrows() {
  for (const auto& [id, arrow] : arrows_) {
    for (const ArrowEnd& from : arrow.from) {
      for (const ArrowEnd& to : arrow.to) {
        const std::uint32_t a = slice_at(from), b = slice_at(to);
        if (a != kNoSlice && b != kNoSlice && a != b) trace_.arrows.emplace_back(a, b);
      }
    }
  }
  std::sort(trace_.arrows.begin(), trace_.arrows.end());
}

}  // namespace strata
