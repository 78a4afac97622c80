#include "gui/models/timeline/trace_recording.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "gui/models/text.h"
#include "sim/base/cancel.h"
#include "sim/plan/task_title.h"

namespace strata::gui {
namespace {

constexpr std::uint32_t kNoSliceId = 0xffffffff;

/// {"step":1,"task":2} as "step 1", "task 2".
std::vector<std::string> facts_of(std::string_view args) {
  std::vector<std::string> facts;
  std::string fact;
  for (const char c : args) {
    if (c == '{' || c == '}' || c == '"') continue;
    if (c == ',') {
      facts.push_back(std::exchange(fact, {}));
    } else {
      fact += c == ':' ? ' ' : c;
    }
  }
  if (!fact.empty()) facts.push_back(fact);
  return facts;
}

class TraceFacts : public SliceFacts {
 public:
  explicit TraceFacts(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}

  std::vector<std::string> lines(std::uint32_t id, double /*shift*/) const override {
    const TraceSlice& slice = trace_->slices[id];
    const auto [begin, end] = seconds_apart(slice.begin, slice.end);
    const TraceThread& thread = trace_->threads[slice.thread];
    std::vector<std::string> lines = {
        trace_->names[slice.name], fmt::format("{}, {}", thread.process, thread.name),
        fmt::format("{}: from {} to {}", seconds_text(slice.end - slice.begin), begin.toStdString(),
                    end.toStdString())};
    for (std::string& fact : facts_of(trace_->args_of(slice))) lines.push_back(std::move(fact));
    return lines;
  }

  std::vector<std::uint32_t> before(std::uint32_t id) const override {
    std::vector<std::uint32_t> ids;
    for (const auto& [from, to] : trace_->arrows) {
      if (to == id) ids.push_back(from);
    }
    return ids;
  }
  std::vector<std::uint32_t> after(std::uint32_t id) const override {
    const auto first = std::lower_bound(trace_->arrows.begin(), trace_->arrows.end(),
                                        std::pair<std::uint32_t, std::uint32_t>(id, 0));
    std::vector<std::uint32_t> ids;
    for (auto arrow = first; arrow != trace_->arrows.end() && arrow->first == id; ++arrow) {
      ids.push_back(arrow->second);
    }
    return ids;
  }

 private:
  std::shared_ptr<const Trace> trace_;
};

Phase phase_in(std::string_view title) {
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    if (title.ends_with(kPhaseNames[i])) return static_cast<Phase>(i);
  }
  return Phase::forward;
}

class TraceRecorder {
 public:
  TraceRecorder(const Trace& trace, const std::string& name) : trace_(trace) {
    recording_->name = name;
    recording_->end = trace.end.value;
    for (const std::string& text : trace.names) add_label(text);
  }

  std::shared_ptr<Recording> run(const std::atomic<bool>* cancelled) && {
    std::size_t at = 0;
    for (std::uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      throw_if_cancelled(cancelled);
      std::vector<Slice> slices;
      for (; at < trace_.slices.size() && trace_.slices[at].thread == thread; ++at) {
        slices.push_back(slice(at));
      }
      add_thread(trace_.threads[thread], std::move(slices));
    }
    for (const TraceCounter& counter : trace_.counters) add_counter(counter);
    bring_groups_together();
    index_places(*recording_);
    return std::move(recording_);
  }

 private:
  std::uint32_t add_label(const std::string& text) {
    recording_->labels.push_back(make_label(text, {}, LayerId()));
    return static_cast<std::uint32_t>(recording_->labels.size() - 1);
  }

  Slice slice(std::size_t number) {
    const TraceSlice& slice = trace_.slices[number];
    return {slice.begin.value, slice.end.value, slice.name, static_cast<std::uint32_t>(number), 1,
            style(slice)};
  }

  std::uint16_t style(const TraceSlice& slice) {
    const std::uint64_t key = std::uint64_t{slice.category} << 32U | slice.name;
    const auto known = style_of_.find(key);
    if (known != style_of_.end()) return known->second;
    return style_of_[key] = style_number(*recording_, styled(slice));
  }

  // Strata's own categories have the colours that its timelines have; those of others any.
  SliceStyle styled(const TraceSlice& slice) const {
    const std::string& category = trace_.names[slice.category];
    const std::string& thread = trace_.threads[slice.thread].name;
    if (category == task_category(TaskKind::compute)) {
      return {Shade::task, TaskKind::compute, phase_in(trace_.names[slice.name])};
    }
    if (category == task_category(TaskKind::transfer)) return {Shade::task, TaskKind::transfer};
    if (category == task_category(TaskKind::collective)) {
      const bool sums = thread.starts_with("statistics");
      return {Shade::task, TaskKind::collective, sums ? Phase::forward_statistics : Phase::update};
    }
    constexpr std::uint32_t kColours = 10;
    const std::uint32_t word = category.empty() ? slice.name : slice.category;
    return {Shade::category, {}, {}, static_cast<float>(word % kColours)};
  }

  void add_thread(const TraceThread& thread, std::vector<Slice> slices) {
    const bool device = thread.name.starts_with("compute");
    LaneName name{thread.process, thread.name, device ? LaneKind::device : LaneKind::stream};
    for (std::vector<Slice>& part : without_overlaps(std::move(slices))) {
      recording_->lanes.emplace_back(name, std::move(part));
      ++name.depth;
      name.name = fmt::format("{} {}", thread.name, name.depth + 1);
    }
  }

  void add_counter(const TraceCounter& counter) {
    double most = 0;
    for (const auto& [at, value] : counter.values) most = std::max(most, value);
    if (!(most > 0)) return;
    const std::uint32_t label = add_label(fmt::format("{}, of {:.4g}", counter.name, most));
    const std::uint16_t level = style_number(*recording_, {Shade::level});
    std::vector<Slice> slices;
    for (std::size_t i = 0; i < counter.values.size(); ++i) {
      const auto& [at, value] = counter.values[i];
      const Seconds end = i + 1 < counter.values.size() ? counter.values[i + 1].first : trace_.end;
      if (!(value > 0) || end <= at) continue;
      slices.push_back(
          {at.value, end.value, label, kNoSliceId, static_cast<float>(value / most), level});
    }
    recording_->lanes.emplace_back(LaneName{counter.process, counter.name, LaneKind::curve},
                                   std::move(slices));
  }

  void bring_groups_together() {
    std::map<std::string, std::size_t> order;
    for (const Lane& lane : recording_->lanes) order.try_emplace(lane.name().group, order.size());
    std::stable_sort(recording_->lanes.begin(), recording_->lanes.end(),
                     [&](const Lane& a, const Lane& b) {
                       return order.at(a.name().group) < order.at(b.name().group);
                     });
  }

  const Trace& trace_;
  std::shared_ptr<Recording> recording_ = std::make_shared<Recording>();
  std::unordered_map<std::uint64_t, std::uint16_t> style_of_;
};

}  // namespace

RecordingPtr record(std::shared_ptr<const Trace> trace, const std::string& name,
                    const std::atomic<bool>* cancelled) {
  auto recording = TraceRecorder(*trace, name).run(cancelled);
  recording->facts = std::make_shared<TraceFacts>(std::move(trace));
  return recording;
}

}  // namespace strata::gui
