#include "exec/cuda/products/tuned_plan.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/tensor/filter_layout.h"
#include "exec/cuda/tensor/noise.h"

namespace strata::cuda {
namespace {

constexpr std::size_t kTried = 10;
constexpr int kWarmUps = 3, kRounds = 7;

/// A GPU's memory that there may be none of.
class MemoryToTuneIn {
 public:
  MemoryToTuneIn(int gpu, std::int64_t bytes) : gpu_(gpu), data_(allocate(gpu, bytes)) {}
  ~MemoryToTuneIn() {
    if (data_ != nullptr) release(gpu_, data_);
  }
  MemoryToTuneIn(const MemoryToTuneIn&) = delete;
  MemoryToTuneIn& operator=(const MemoryToTuneIn&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  int gpu_;
  void* data_;
};

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + 511) / 512 * 512;
}

/// Bytes of the input, the filter and the output.
std::array<std::int64_t, 3> sizes_of(const ConvolutionShape& shape, Type type) {
  std::int64_t input = shape.samples * shape.in_channels, filter = filter_size(shape);
  std::int64_t output = shape.samples * shape.out_channels;
  for (const ConvolutionAxis& axis : shape.axes) input *= axis.input, output *= axis.output;
  const std::int64_t size = size_of(type);
  return {rounded(input * size), rounded(filter * size), rounded(output * size)};
}

struct NamedPlan {
  std::string name;
  ConvolutionPlan plan;
};

/// The first few that are not refused and ask for little enough.
std::vector<NamedPlan> plans_to_try(const ConvolutionGraph& graph,
                                    std::vector<PlanCandidate> candidates) {
  std::vector<NamedPlan> plans;
  for (PlanCandidate& candidate : candidates) {
    if (plans.size() == kTried) break;
    std::string name = candidate.name;
    auto plan = graph.plan(std::move(candidate));
    if (!plan || plan->workspace() > kMostWorkspace) continue;
    plans.push_back({std::move(name), std::move(*plan)});
  }
  return plans;
}

class Tuning {
 public:
  Tuning(Seat& seat, const CudnnSeat& library, const ConvolutionMemory& memory)
      : seat_(seat), library_(library), memory_(memory) {}

  /// Leaves the plans that run, in rounds of one run each, so that whatever drifts with time
  /// drifts for all; the fastest comes first.
  void sort(std::vector<NamedPlan>& plans) {
    std::erase_if(plans, [&](const NamedPlan& one) { return !warm_up(one.plan); });
    std::vector<std::vector<Event>> events(plans.size());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < plans.size(); ++i) time(plans[i].plan, events[i]);
    }
    seat_.stream().finish();
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < plans.size(); ++i) order.emplace_back(median(events[i]), i);
    std::sort(order.begin(), order.end());
    std::vector<NamedPlan> sorted;
    sorted.reserve(plans.size());
    for (const auto& [seconds, i] : order) sorted.push_back(std::move(plans[i]));
    plans = std::move(sorted);
  }

 private:
  bool warm_up(const ConvolutionPlan& plan) {
    for (int run = 0; run < kWarmUps; ++run) {
      if (plan.try_to_run(library_.handle(), memory_) != CUDNN_STATUS_SUCCESS) return false;
    }
    return true;
  }

  void time(const ConvolutionPlan& plan, std::vector<Event>& events) {
    events.emplace_back(seat_.gpu(), EventKind::time).record(seat_.stream());
    plan.run(library_.handle(), memory_);
    events.emplace_back(seat_.gpu(), EventKind::time).record(seat_.stream());
  }

  static double median(const std::vector<Event>& events) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < events.size(); i += 2) {
      seconds.push_back(events[i + 1].since(events[i]).value);
    }
    std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
    return seconds[kRounds / 2];
  }

  Seat& seat_;
  const CudnnSeat& library_;
  ConvolutionMemory memory_;
};

/// False, and as they are, where there is no room for the tensors.
bool sort_by_time(Seat& seat, const CudnnSeat& library, const ConvolutionShape& shape,
                  std::vector<NamedPlan>& plans) {
  const auto [input, filter, output] = sizes_of(shape, seat.type());
  const std::int64_t tensors = input + filter + output;
  std::int64_t workspace = 0;
  for (const NamedPlan& one : plans) workspace = std::max(workspace, one.plan.workspace());
  const MemoryToTuneIn memory(seat.gpu(), tensors + workspace);
  std::byte* const data = memory.data();
  if (data == nullptr) return false;
  fill_with_noise(data, tensors / size_of(seat.type()), seat.type(), seat.stream());
  Tuning(seat, library, {data, data + input, data + input + filter, data + tensors}).sort(plans);
  return true;
}

}  // namespace

std::string show(const ConvolutionShape& shape, Direction direction, Precision precision) {
  constexpr std::array kDirections = {"forward", "data", "weights"};
  constexpr std::array kPrecisions = {"fp32", "tf32", "bf16"};
  std::string text = fmt::format("{} {} n{} c{}-{} g{}", kDirections[static_cast<int>(direction)],
                                 kPrecisions[static_cast<int>(precision)], shape.samples,
                                 shape.in_channels, shape.out_channels, shape.groups.count);
  for (const ConvolutionAxis& axis : shape.axes) {
    text += fmt::format(" {}{}-{} k{} s{} d{} p{},{}", name(axis.dim), axis.input, axis.output,
                        axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end);
  }
  return text;
}

std::optional<ConvolutionPlan> tuned_plan(Seat& seat, const ConvolutionShape& shape,
                                          Direction direction) {
  use_gpu(seat.gpu());
  CudnnSeat& library = cudnn_of(seat);
  const ConvolutionGraph graph(library.target(), shape, direction, seat.precision());
  std::vector<PlanCandidate> candidates = graph.candidates();
  const std::string key = show(shape, direction, seat.precision()) + " on " + library.title();
  const std::string known = library.choices().find(key);
  for (PlanCandidate& candidate : candidates) {
    if (candidate.name != known) continue;
    if (auto plan = graph.plan(std::move(candidate))) return plan;
    candidates = graph.candidates();
    break;
  }
  std::vector<NamedPlan> plans = plans_to_try(graph, std::move(candidates));
  const bool timed = plans.size() < 2 || sort_by_time(seat, library, shape, plans);
  if (plans.empty()) return std::nullopt;
  if (timed) library.choices().add(key, plans.front().name);
  return std::move(plans.front().plan);
}

}  // namespace strata::cuda
