#include "sim/study/validate/replay.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/counter_random.h"
#include "sim/measure/calibrate.h"
#include "sim/simulate/simulate.h"

namespace strata {
namespace {

// Of six steps the intervals that end the fourth and the fifth are the steady window: one of each
// sweep.
constexpr std::size_t kReplayed = 6;
constexpr int kMostPasses = 8;
constexpr std::size_t kAlike = 8;  // waits a little shorter, and as many a little longer
constexpr std::uint64_t kLateSeed = 1;

using ShardKey = std::pair<LayerId, CostKey>;

ShardKey shard_key(const Graph& graph, LayerId layer, const Tile& shard, Phase phase) {
  return {layer, cost_key(graph, layer, shard, DType::fp32, phase)};
}

}  // namespace

Replay::Replay(const Case& input, const Prediction& prediction)
    : input_(input), prediction_(prediction), compute_(prediction.plan.size()) {
  const Graph& graph = input.graph;
  const std::vector<MeasureRequest> list = shapes_of(graph, prediction.strategy);
  std::map<ShardKey, std::size_t> shard_of;
  for (std::size_t i = 0; i < list.size(); ++i) {
    shard_of.emplace(shard_key(graph, list[i].layer, list[i].output, list[i].phase), i);
  }
  const Plan& plan = prediction.plan;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::compute) continue;
    const Partition cut = partition(graph[task.layer], prediction.strategy[task.layer].degrees);
    const auto at = shard_of.find(shard_key(graph, task.layer, cut.tile(task.shard), task.phase));
    if (at != shard_of.end()) compute_[i].shard = at->second;
    const Bytes bytes = plan.assembled(TaskId(i));
    if (bytes.value == 0) continue;
    compute_[i].assembling = input.models[task.device()]->move(MoveKind::local, bytes).seconds;
  }
}

// By device: how many times longer than by their medians its shards took together. What no sweep
// measures is as much slower.
std::vector<double> Replay::paces(const RoundTimes& sweep) const {
  std::vector<double> taken(sweep.size()), usual(sweep.size());
  for (std::size_t i = 0; i < compute_.size(); ++i) {
    if (!compute_[i].shard) continue;
    const std::size_t device = prediction_.plan[TaskId(i)].device();
    taken[device] += sweep[device].shards[*compute_[i].shard].value;
    usual[device] += (prediction_.costs[i].seconds - compute_[i].assembling).value;
  }
  std::vector<double> paces;
  for (std::size_t d = 0; d < sweep.size(); ++d) {
    paces.push_back(taken[d] > 0 && usual[d] > 0 ? taken[d] / usual[d] : 1);
  }
  return paces;
}

void Replay::add_step(Steps& steps, const RoundTimes& sweep) const {
  const std::vector<double> pace = paces(sweep);
  for (std::size_t i = 0; i < compute_.size(); ++i) {
    Cost cost = prediction_.costs[i];
    if (prediction_.plan[TaskId(i)].kind == TaskKind::join) {  // of no device
      steps.costs.push_back(cost);
      continue;
    }
    const std::size_t device = prediction_.plan[TaskId(i)].device();
    const auto& [shard, assembling] = compute_[i];
    cost.seconds = shard ? sweep[device].shards[*shard] + assembling * pace[device]
                         : cost.seconds * pace[device];
    steps.costs.push_back(cost);
  }
  auto& waits = steps.waits.emplace_back();
  for (const DeviceRound& device : sweep) {
    waits.push_back(device.waits);
    std::sort(waits.back().begin(), waits.back().end());
  }
}

// One of those that the device met in the sweep where it waited about as long: a thread that waits
// for milliseconds is more likely to have lost its core. The same one whenever this task waits so.
Seconds Replay::late(const Steps& steps, std::size_t slot, Seconds waited) const {
  const std::size_t tasks = compute_.size();
  const std::size_t device = prediction_.plan[TaskId(slot % tasks)].device();
  const std::vector<Wait>& seen = steps.waits[slot / tasks][device];
  if (seen.empty()) return {};
  const auto above = std::lower_bound(seen.begin(), seen.end(), Wait{waited, {}});
  const auto rank = static_cast<std::size_t>(above - seen.begin());
  const std::size_t first = rank < kAlike ? 0 : rank - kAlike;
  const std::size_t last = std::min(rank + kAlike, seen.size());
  const double at = CounterRandom(kLateSeed, "late").uniform(slot);
  return seen[first + static_cast<std::size_t>(at * static_cast<double>(last - first))].late;
}

// By step and task: how late it goes on, where its device had nothing to do until it was ready.
std::vector<Seconds> Replay::all_late(const Steps& steps, const Timeline& timeline) const {
  const std::size_t tasks = compute_.size();
  std::vector<std::pair<Seconds, std::size_t>> by_start;
  for (std::size_t slot = 0; slot < kReplayed * tasks; ++slot) {
    if (prediction_.plan[TaskId(slot % tasks)].stream != Stream::device) continue;
    by_start.emplace_back(timeline.span(slot / tasks, TaskId(slot % tasks)).start, slot);
  }
  std::sort(by_start.begin(), by_start.end());
  std::vector<Seconds> all(kReplayed * tasks);
  std::vector<Seconds> free(input_.cluster.device_count());
  for (const auto& [start, slot] : by_start) {
    Seconds& device = free[prediction_.plan[TaskId(slot % tasks)].device()];
    if (device < start) all[slot] = late(steps, slot, start - device);
    device = std::max(device, timeline.span(slot / tasks, TaskId(slot % tasks)).end);
  }
  return all;
}

Timeline Replay::simulate(const Steps& steps, const std::vector<Seconds>& late) const {
  std::vector<Cost> costs = steps.costs;
  for (std::size_t slot = 0; slot < late.size(); ++slot) costs[slot].seconds += late[slot];
  return strata::simulate(prediction_.plan, input_.cluster, costs, kReplayed, input_.runtime);
}

// Who goes on late has not begun yet.
Timeline Replay::begun_late(const Timeline& timeline, const std::vector<Seconds>& late) const {
  const std::size_t tasks = compute_.size();
  std::vector<Span> spans;
  for (std::size_t slot = 0; slot < late.size(); ++slot) {
    spans.push_back(timeline.span(slot / tasks, TaskId(slot % tasks)));
    spans.back().start += late[slot];
  }
  return Timeline(tasks, std::move(spans));
}

// Who is late makes others wait, who may be late in turn: again and again, until nobody is later.
Timeline Replay::timeline(const RoundTimes& before, const RoundTimes& after) const {
  Steps steps;
  for (std::size_t step = 0; step < kReplayed; ++step) {
    add_step(steps, step % 2 == 0 ? before : after);
  }
  std::vector<Seconds> late(kReplayed * compute_.size());
  Timeline timeline = simulate(steps, late);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    std::vector<Seconds> now = all_late(steps, timeline);
    if (now == late) break;
    late = std::move(now);
    timeline = simulate(steps, late);
  }
  return begun_late(timeline, late);
}

}  // namespace strata
