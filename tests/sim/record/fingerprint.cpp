#include "tests/sim/record/fingerprint.h"

#include <span>

#include <fmt/format.h>

namespace strata::testing {
namespace {

Fingerprint& operator<<(Fingerprint& print, const Seconds& seconds) {
  return print << seconds.value;
}
Fingerprint& operator<<(Fingerprint& print, const Bytes& bytes) {
  return print << bytes.value;
}
template <class Tag>
Fingerprint& operator<<(Fingerprint& print, const Index<Tag>& index) {
  return print << index();
}
// Dims that say nothing are left out, so that a further one changes no fingerprint.
Fingerprint& operator<<(Fingerprint& print, const Degrees& degrees) {
  for (Dim dim : kDims) {
    if (degrees[dim] != 1) print << name(dim).front() << degrees[dim];
  }
  return print << '.';
}
Fingerprint& operator<<(Fingerprint& print, const Box& box) {
  for (Dim dim : kDims) {
    if (box[dim] != Interval{0, 1}) print << name(dim).front() << box[dim].begin << box[dim].end;
  }
  return print << '.';
}
Fingerprint& operator<<(Fingerprint& print, const LinkLoad& load) {
  return print << load.link << load.demand();
}
Fingerprint& operator<<(Fingerprint& print, const Span& span) {
  return print << span.ready << span.start << span.end;
}

Fingerprint& operator<<(Fingerprint& print, const CollectivePhase& phase);

// Its length goes first, so that no value can pass to the next list unseen.
template <class T>
Fingerprint& operator<<(Fingerprint& print, std::span<const T> all) {
  print << all.size();
  for (const T& one : all) print << one;
  return print;
}
template <class T>
Fingerprint& operator<<(Fingerprint& print, const std::vector<T>& all) {
  return print << std::span<const T>(all);
}
Fingerprint& operator<<(Fingerprint& print, const ShardDevices& devices) {
  return print << devices.all();
}

Fingerprint& operator<<(Fingerprint& print, const CollectivePhase& phase) {
  return print << phase.bytes_per_byte << phase.latency << phase.loads;
}

// Without Task::detail, which says where in the plan the rest of the task stands.
Fingerprint& operator<<(Fingerprint& print, const Task& task) {
  return print << task.kind << task.phase << task.layer << task.device << task.shard << task.stream;
}

void add_task(Fingerprint& print, const Plan& plan, TaskId id) {
  const Task& task = plan[id];
  print << task << plan.dependencies(id) << plan.assembled(id);
  if (task.kind != TaskKind::transfer) return;
  const Transfer& transfer = plan.transfers()[task.detail];
  print << transfer.input << transfer.bytes << plan.pieces(transfer).size();
  for (const Piece& piece : plan.pieces(transfer)) {
    print << piece.from << piece.bytes << plan.box(piece);
  }
}

void add_group(Fingerprint& print, const Plan& plan, const Group& group) {
  const GroupShape& shape = plan.group_shapes()[group.shape];
  std::vector<std::uint32_t> shards;
  for (TaskId task : group.tasks) shards.push_back(plan[task].shard);
  print << group.purpose << group.algorithm << group.bytes << group.tasks << group.gathers << shards
        << shape.devices << shape.phases;
}

void add_layer(Fingerprint& print, const Plan& plan, LayerId layer) {
  print << plan.placement(layer).degrees << plan.placement(layer).devices;
}

}  // namespace

Fingerprint& Fingerprint::add(std::uint64_t number) {
  for (int byte = 0; byte < 8; ++byte) {
    value_ = (value_ ^ (number & 0xff)) * 0x100000001b3;
    number >>= 8;
  }
  return *this;
}

std::string Fingerprint::text() const {
  return fmt::format("{:016x}", value_);
}

Fingerprint fingerprint(const Strategy& strategy) {
  Fingerprint print;
  for (const Config& config : strategy.configs()) print << config.degrees << config.devices;
  return print;
}

Fingerprint fingerprint(const Plan& plan, const Graph& graph) {
  Fingerprint print;
  print << plan.size();
  for (std::size_t i = 0; i < plan.size(); ++i) add_task(print, plan, TaskId(i));
  for (const Group& group : plan.groups()) add_group(print, plan, group);
  for (std::size_t i = 0; i < graph.size(); ++i) add_layer(print, plan, LayerId(i));
  return print << plan.runnable() << plan.dtype() << plan.device_count();
}

Fingerprint carried_fingerprint(const Plan& plan) {
  Fingerprint print;
  for (std::size_t i = 0; i < plan.size(); ++i) print << plan.carried(TaskId(i));
  return print;
}

Fingerprint fingerprint(const Timeline& timeline) {
  Fingerprint print;
  for (std::size_t step = 0; step < timeline.steps(); ++step) print << timeline.step(step);
  return print;
}

}  // namespace strata::testing
