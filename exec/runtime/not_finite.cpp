#include "exec/runtime/not_finite.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "sim/plan/task_title.h"

namespace strata {
namespace {

struct Found {
  TaskId task;
  const char* what = nullptr;
};

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// The memory of one device, seen from its own thread.
class Search {
 public:
  Search(const Plan& plan, std::span<void* const> memory, Backend& backend)
      : plan_(plan), memory_(memory), backend_(backend) {}

  std::optional<Found> first_on(DeviceId device) const {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const TaskId id(i);
      const Task& task = plan_[id];
      if (task.device != device || task.kind != TaskKind::compute) continue;
      if (task.phase != Phase::forward) continue;
      if (const char* what = not_finite_of(id)) return Found{id, what};
    }
    return std::nullopt;
  }

 private:
  const char* not_finite_of(TaskId forward) const {
    const auto all_finite = [&](const auto& wanted) {
      const auto operands = plan_.operands(forward);
      return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
        return !wanted(operand) || finite(operand.buffer);
      });
    };
    const auto is = [](Role role) {
      return [role](const Operand& operand) { return operand.role == role; };
    };
    const auto lies_in = [this](BufferKind kind) {
      return [this, kind](const Operand& operand) { return plan_[operand.buffer].kind == kind; };
    };
    if (!all_finite(lies_in(BufferKind::data))) return "data";
    if (!all_finite(lies_in(BufferKind::input))) return "gathered input";
    if (!all_finite(is(Role::parameters))) return "parameters";
    return all_finite(is(Role::output)) ? nullptr : "output";
  }

  bool finite(BufferId id) const {
    if (memory_[id()] == nullptr) return true;
    const auto boxes = plan_.boxes(id);
    if (boxes.empty()) return finite_values(memory_[id()], plan_[id].values);
    auto* data = static_cast<std::byte*>(memory_[id()]);
    for (const Box& box : boxes) {
      if (!finite_box({data, box})) return false;
      data += backend_.bytes(box);
    }
    return true;
  }

  bool finite_values(const void* data, std::int64_t count) const {
    std::vector<float> values(static_cast<std::size_t>(count));
    backend_.copy_values(values.data(), static_cast<const float*>(data), count);
    backend_.finish();
    return all_finite(values);
  }

  // Moved to the origin, the box is a whole tensor: elements lie as its extents say.
  bool finite_box(const Region& region) const {
    const Extents whole = extents(region.box);
    std::vector<float> plain(static_cast<std::size_t>(volume(region.box)));
    backend_.store(plain.data(), whole, {region.data, strata::whole(whole)});
    return all_finite(plain);
  }

  const Plan& plan_;
  std::span<void* const> memory_;
  Backend& backend_;
};

// A hint and no more: what goes wrong here must not hide why the run stopped.
std::optional<Found> ask(DeviceId device, const Search& search, Backend& backend) {
  std::optional<Found> found;
  try {
    std::jthread([&] {
      try {
        backend.enter(device);
        found = search.first_on(device);
      } catch (...) {
      }
    }).join();
  } catch (const std::exception&) {  // there is no thread to be had
  }
  return found;
}

}  // namespace

std::string first_not_finite(const Graph& graph, const Plan& plan, std::span<void* const> memory,
                             Backend& backend) {
  const Search search(plan, memory, backend);
  std::optional<Found> first;
  for (std::size_t d = 0; d < plan.device_count(); ++d) {
    const std::optional<Found> found = ask(DeviceId(d), search, backend);
    if (found && (!first || found->task < first->task)) first = found;
  }
  if (!first) return {};
  const Task& task = plan[first->task];
  return fmt::format("the {} of layer {}{}, shard {} on {}", first->what, graph[task.layer].name,
                     round_text(plan, task), task.shard, backend.device_name(task.device));
}

}  // namespace strata
