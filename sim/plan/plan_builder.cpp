#include "sim/plan/plan_builder.h"

#include <algorithm>
#include <cassert>

#include "sim/graph/ops/phase.h"

namespace strata {

PlanBuilder::PlanBuilder(DType dtype, std::size_t device_count, std::uint32_t rounds)
    : turns_(device_count) {
  plan_.dtype_ = dtype;
  plan_.rounds_ = rounds;
  plan_.assembles_.resize(device_count);
  plan_.dependency_offsets_.push_back(0);
  plan_.operand_offsets_.push_back(0);
}

void PlanBuilder::begin_instance(std::uint32_t round, bool in_turn, bool beside) {
  round_ = round;
  beside_ = beside;
  instance_ = in_turn ? ++instances_ : 0;
}

void PlanBuilder::expect(double times) {
  const auto reserve = [times](auto& list) {
    list.reserve(static_cast<std::size_t>(times * static_cast<double>(list.size())));
  };
  reserve(plan_.tasks_);
  reserve(plan_.dependency_offsets_);
  reserve(plan_.operand_offsets_);
  reserve(plan_.dependencies_);
  reserve(plan_.operands_);
  reserve(plan_.transfers_);
  reserve(plan_.pieces_);
  reserve(plan_.gathered_);
  reserve(plan_.gathered_pieces_);
  reserve(plan_.buffers_);
}

// A task that comes after another of its instance on its device comes after the last one's, too.
void PlanBuilder::take_turn(const Task& task, TaskId id, std::size_t first_dependency) {
  Turn& turn = turns_[task.device()];
  if (std::exchange(turn.instance, instance_) != instance_ && !beside_) {
    turn.first = id;
    turn.before = std::exchange(turn.open, {});
  }
  auto& all = plan_.dependencies_;
  bool follows = false;
  for (std::size_t i = first_dependency; i < all.size(); ++i) {
    if (all[i] < turn.first) continue;
    const Task& earlier = plan_.tasks_[all[i]()];
    if (earlier.kind != TaskKind::compute || earlier.device != task.device) continue;
    follows = true;
    std::erase(turn.open, all[i]);
  }
  if (!follows) all.insert(all.end(), turn.before.begin(), turn.before.end());
  turn.open.push_back(id);
}

TaskId PlanBuilder::add(const Task& task, std::span<const TaskId> dependencies,
                        std::span<const Operand> operands, std::span<const Piece> gathered) {
  const TaskId id(plan_.tasks_.size());
  auto& all = plan_.dependencies_;
  const std::size_t first_dependency = all.size();
  all.insert(all.end(), dependencies.begin(), dependencies.end());
  const bool computes = task.kind == TaskKind::compute && task.phase != Phase::update;
  if (instance_ > 0 && computes) take_turn(task, id, first_dependency);
  if (instance_ > 0 && task.kind == TaskKind::compute && task.phase == Phase::update) {
    const std::vector<TaskId>& open = turns_[task.device()].open;
    all.insert(all.end(), open.begin(), open.end());
  }
  const auto first_of = all.begin() + static_cast<std::ptrdiff_t>(first_dependency);
  if (!std::is_sorted(first_of, all.end())) std::sort(first_of, all.end());
  all.erase(std::unique(first_of, all.end()), all.end());
  assert(all.size() == first_dependency || all.back() < id);
  plan_.tasks_.push_back(task);
  plan_.tasks_.back().round = round_;
  plan_.tasks_.back().again = again_;
  const bool works = task.kind == TaskKind::compute || task.kind == TaskKind::reduce ||
                     task.kind == TaskKind::gather;
  if (works) plan_.tasks_.back().stream = Stream::device;
  plan_.dependency_offsets_.push_back(static_cast<std::uint32_t>(all.size()));
  plan_.operands_.insert(plan_.operands_.end(), operands.begin(), operands.end());
  plan_.operand_offsets_.push_back(static_cast<std::uint32_t>(plan_.operands_.size()));
  if (gathered.empty()) return id;
  auto& pieces = plan_.gathered_pieces_;
  const auto first = static_cast<std::uint32_t>(pieces.size());
  pieces.insert(pieces.end(), gathered.begin(), gathered.end());
  plan_.gathered_.push_back({first, static_cast<std::uint32_t>(pieces.size())});
  plan_.tasks_.back().detail = static_cast<std::uint32_t>(plan_.gathered_.size());
  return id;
}

TaskId PlanBuilder::add_transfer(Task task, std::uint32_t input, std::span<const Piece> pieces,
                                 std::span<const TaskId> dependencies, std::uint32_t copies,
                                 std::uint32_t exchange) {
  Transfer transfer{.input = input,
                    .first_piece = static_cast<std::uint32_t>(plan_.pieces_.size()),
                    .bytes = {},
                    .copies = copies,
                    .exchange = exchange};
  for (const Piece& piece : pieces) {
    plan_.pieces_.push_back(piece);
    transfer.bytes += piece.bytes;
  }
  transfer.last_piece = static_cast<std::uint32_t>(plan_.pieces_.size());
  task.kind = TaskKind::transfer;
  task.detail = static_cast<std::uint32_t>(plan_.transfers_.size());
  plan_.transfers_.push_back(transfer);
  const TaskId id = add(task, dependencies);
  if (exchange != kNoExchange && !plan_.exchanges_[exchange].first.valid()) {
    plan_.exchanges_[exchange].first = id;
  }
  return id;
}

TaskId PlanBuilder::add_on_host(HostPart part, const Task& task, std::span<const Piece> pieces,
                                std::span<const TaskId> dependencies) {
  const TaskId id = add_transfer(task, 0, pieces, dependencies);
  plan_.transfers_.back().host = part;
  return id;
}

std::uint32_t PlanBuilder::add_exchange(GroupWork work, std::uint32_t shape, Bytes bytes,
                                        double moved) {
  plan_.exchanges_.push_back({work, shape, bytes, {}, false, moved});
  return static_cast<std::uint32_t>(plan_.exchanges_.size() - 1);
}

std::uint32_t PlanBuilder::add_group_shape(GroupShape shape) {
  plan_.group_shapes_.push_back(std::move(shape));
  return static_cast<std::uint32_t>(plan_.group_shapes_.size() - 1);
}

std::uint32_t PlanBuilder::add_group(Group group) {
  plan_.groups_.push_back(std::move(group));
  return static_cast<std::uint32_t>(plan_.groups_.size() - 1);
}

TaskId PlanBuilder::join_group(std::uint32_t group, Task task,
                               std::span<const TaskId> dependencies) {
  if (task.kind != TaskKind::reduce && task.kind != TaskKind::gather) {
    task.kind = TaskKind::collective;
  }
  task.detail = group;
  const TaskId id = add(task, dependencies);
  plan_.groups_[group].tasks.push_back(id);
  return id;
}

TaskId PlanBuilder::gather_group(std::uint32_t group, Task task,
                                 std::span<const TaskId> dependencies) {
  task.kind = TaskKind::gather;
  task.detail = group;
  const TaskId id = add(task, dependencies);
  plan_.groups_[group].gathers.push_back(id);
  return id;
}

BufferId PlanBuilder::add_buffer(Buffer buffer, std::span<const Box> boxes) {
  buffer.first_box = known_boxes_.find_or_add(boxes, plan_.boxes_);
  buffer.last_box = buffer.first_box + static_cast<std::uint32_t>(boxes.size());
  plan_.buffers_.push_back(buffer);
  return BufferId(plan_.buffers_.size() - 1);
}

BoxId PlanBuilder::number_of(const Box& box) {
  if (empty(box)) return {};
  return BoxId(known_boxes_.find_or_add({&box, 1}, plan_.boxes_));
}

// A buffer is taken over once nobody uses what the last step left in it.
void PlanBuilder::carry_buffers() {
  std::size_t count = carried_.size();
  for (std::size_t i = 0; i < plan_.buffers_.size(); ++i) {
    const BufferId buffer(i);
    count += plan_.first_users(buffer).size() * plan_.last_users(buffer).size();
  }
  carried_.reserve(count);
  for (std::size_t i = 0; i < plan_.buffers_.size(); ++i) {
    for (TaskId first : plan_.first_users(BufferId(i))) {
      for (TaskId last : plan_.last_users(BufferId(i))) carry(first, last);
    }
  }
}

// The reduce-scatter among the same devices whose sums the transfer fetches; null for none.
const Exchange* PlanBuilder::scattered_before(TaskId fetched) const {
  const auto devices_of = [&](const Exchange& exchange) -> const std::vector<DeviceId>& {
    return plan_.group_shapes_[exchange.shape].devices;
  };
  const std::vector<DeviceId>& fetching = devices_of(*plan_.exchange_of(plan_[fetched]));
  for (const TaskId sum : plan_.dependencies(fetched)) {
    if (plan_[sum].kind != TaskKind::compute || !is_sum(plan_[sum].phase)) continue;
    for (const TaskId part : plan_.dependencies(sum)) {
      const Exchange* exchange = plan_.exchange_of(plan_[part]);
      if (exchange == nullptr || exchange->work != GroupWork::reduce_scatter) continue;
      if (devices_of(*exchange) == fetching) return exchange;
    }
  }
  return nullptr;
}

// An all-gather whose devices have scattered among them what they gather ends an all-reduce. All
// transfers of it wait for sums of one reduce-scatter.
void PlanBuilder::fuse_exchanges() {
  for (Exchange& gathered : plan_.exchanges_) {
    if (gathered.work != GroupWork::all_gather || !gathered.first.valid()) continue;
    const Exchange* scattered = scattered_before(gathered.first);
    if (scattered == nullptr) continue;
    gathered.fused = true;
    plan_.exchanges_[static_cast<std::size_t>(scattered - plan_.exchanges_.data())].fused = true;
  }
}

// Sorts by task with counters, then each task's few by themselves.
Plan PlanBuilder::build() && {
  FirstAndLastUsers users = first_and_last_users(plan_);
  plan_.first_users_ = std::move(users.first);
  plan_.last_users_ = std::move(users.last);
  carry_buffers();
  fuse_exchanges();
  const std::size_t tasks = plan_.tasks_.size();
  std::vector<std::uint32_t> ends(tasks + 1, 0);
  for (const auto& carried : carried_) ++ends[carried.first() + 1];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  std::vector<TaskId> by_task(carried_.size());
  std::vector<std::uint32_t> next(ends.begin(), ends.end() - 1);
  for (const auto& [task, earlier] : carried_) by_task[next[task()]++] = earlier;

  plan_.carried_.reserve(carried_.size());
  plan_.carried_offsets_.push_back(0);
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto first = by_task.begin() + ends[i], last = by_task.begin() + ends[i + 1];
    std::sort(first, last);
    plan_.carried_.insert(plan_.carried_.end(), first, std::unique(first, last));
    plan_.carried_offsets_.push_back(static_cast<std::uint32_t>(plan_.carried_.size()));
  }
  return std::move(plan_);
}

}  // namespace strata
