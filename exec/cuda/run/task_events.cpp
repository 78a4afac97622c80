#include "exec/cuda/run/task_events.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "exec/cuda/run/collectives.h"
#include "exec/runtime/turns.h"

namespace strata::cuda {
namespace {

class Walk {
 public:
  Walk(const Plan& plan, const Program& program, const CudaBackend& backend,
       const Crossing& crossing, bool serial)
      : plan_(plan),
        program_(program),
        backend_(backend),
        crossing_(crossing),
        serial_(serial),
        known_(2 * backend.device_count()),
        pieces_(2 * plan.size()),
        last_(2 * backend.device_count()) {
    events_.is_waited_for.resize(plan.size());
    events_.follows.resize(plan.size());
  }

  TaskEvents events() && {
    for (std::size_t step : {0, 1}) walk(step);
    mark_where_memory_goes();
    for (const auto& [task, stream] : put_) streams_.insert(stream);
    events_.streams.assign(streams_.begin(), streams_.end());
    return std::move(events_);
  }

 private:
  struct Piece {
    Ticket ticket;
    VectorClocks::Clock clock;
  };
  struct Put {
    TaskId task;
    std::uint32_t stream = 0;
  };
  struct Latest {
    TaskId task;
    Piece piece;
  };

  // What a step begins with, each stream does for itself.
  void walk(std::size_t step) {
    step_ = step;
    put_.clear();
    last_.assign(last_.size(), TaskId{});
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const TaskId id(i);
      const Task& task = plan_[id];
      if (task.kind == TaskKind::join) continue;
      if (task.kind == TaskKind::collective) {
        const Group& group = plan_.groups()[task.detail];
        if (group.tasks.back() == id) together(group);
      } else if (task.kind == TaskKind::transfer && crossing_.concerns(id)) {
        across(id);
      } else if (backend_.is_here(task.device)) {
        alone(id);
      }
    }
  }

  void alone(TaskId id) {
    const std::uint32_t stream = stream_of(id);
    begin(id, stream, wait(id, stream));
    put(id, stream);
    if (crossing_.concerns(id)) events_.is_waited_for[id()] = true;  // lets go of what it fetched
  }

  void together(const Group& group) {
    std::vector<TaskId> here;
    for (TaskId id : group.tasks) {
      if (backend_.is_here(plan_[id].device)) here.push_back(id);
    }
    for (TaskId id : here) begin(id, stream_of(id), wait(id, stream_of(id)));
    for (TaskId id : here) {
      put(id, stream_of(id));
      if (gathers(id)) events_.is_waited_for[id()] = true;  // lets go of what it gathered
    }
  }

  // Its two ends are on streams of two devices, of which one may not be here.
  void across(TaskId id) {
    const DeviceId from = crossing_.sender(id);
    events_.is_waited_for[id()] = true;
    if (backend_.is_here(from)) {
      const std::uint32_t stream = backend_.sending_stream(from);
      wait(id, stream);
      put(id, stream);
      last_[stream] = TaskId{};
    }
    if (!backend_.is_here(plan_[id].device)) return;
    const std::uint32_t stream = stream_of(id);
    wait(id, stream);
    if (backend_.is_here(from)) wait_for(stream, id, piece(step_, id));
    begin(id, stream, true);
    put(id, stream);
  }

  // Whether the stream has to.
  bool wait(TaskId id, std::uint32_t stream) {
    bool waits = false;
    if (serial_) {
      const Latest& latest = latest_[backend_.gpus()[device_of(stream)]];
      if (latest.task.valid()) waits = wait_for(stream, latest.task, latest.piece);
    }
    latest_first(plan_, plan_.dependencies(id), [&](TaskId before) {
      waits = wait_for(stream, before, piece(step_, before)) || waits;
    });
    if (step_ == 0) return waits;
    latest_first(plan_, plan_.carried(id), [&](TaskId before) {
      waits = wait_for(stream, before, piece(step_ - 1, before)) || waits;
    });
    return waits;
  }

  bool wait_for(std::uint32_t stream, TaskId before, const Piece& piece) {
    if (known_.knows(stream, piece.ticket)) return false;
    events_.is_waited_for[before()] = true;
    known_.join(stream, piece.clock);
    return true;
  }

  // The second step waits for whatever the first one does.
  void begin(TaskId id, std::uint32_t stream, bool waits) {
    events_.follows[id()] = waits ? TaskId{} : last_[stream];
  }

  void put(TaskId id, std::uint32_t stream) {
    const Ticket ticket = known_.put(stream);
    piece(step_, id) = {ticket, known_[stream]};
    if (serial_) latest_[backend_.gpus()[device_of(stream)]] = {id, piece(step_, id)};
    put_.push_back({id, stream});
    last_[stream] = id;
  }

  // Who is the last of its stream to use memory that goes back to its device is waited for, if
  // another stream takes memory of that device.
  void mark_where_memory_goes() {
    const std::vector<std::set<std::uint32_t>> takers = takers_by_device();
    std::map<std::pair<BufferId, std::uint32_t>, TaskId> last_users;
    for (const auto& [task, stream] : put_) {
      for (BufferId buffer : program_.releases(task)) last_users[{buffer, stream}] = task;
    }
    for (const auto& [use, task] : last_users) {
      const auto& [buffer, stream] = use;
      const auto& of_device = takers[plan_[buffer].device()];
      if (std::any_of(of_device.begin(), of_device.end(),
                      [own = stream](auto other) { return other != own; })) {
        events_.is_waited_for[task()] = true;
      }
    }
  }

  // Sums that work in place find their memory there.
  std::vector<std::set<std::uint32_t>> takers_by_device() const {
    std::vector<std::set<std::uint32_t>> takers(backend_.device_count());
    for (const auto& [task, stream] : put_) {
      const bool sums = plan_[task].kind == TaskKind::collective && !gathers(task);
      if (!sums) takers[device_of(stream)].insert(stream);
    }
    return takers;
  }

  bool gathers(TaskId collective) const {
    const Group& group = plan_.groups()[plan_[collective].detail];
    return group.how != Combination::sum || !group.results.empty();
  }
  std::size_t device_of(std::uint32_t stream) const { return stream % backend_.device_count(); }
  std::uint32_t stream_of(TaskId id) const {
    return backend_.stream_of(plan_[id].device, plan_[id].stream);
  }
  Piece& piece(std::size_t step, TaskId id) { return pieces_[step * plan_.size() + id()]; }

  const Plan& plan_;
  const Program& program_;
  const CudaBackend& backend_;
  const Crossing& crossing_;
  bool serial_;
  VectorClocks known_;
  std::size_t step_ = 0;
  std::vector<Piece> pieces_;     // by step and task; of a transfer, of its later end
  std::vector<TaskId> last_;      // by stream, in this step; invalid where it is no task
  std::map<int, Latest> latest_;  // by GPU
  std::vector<Put> put_;          // in this step
  std::set<std::uint32_t> streams_;
  TaskEvents events_;
};

}  // namespace

TaskEvents task_events(const Plan& plan, const Program& program, const CudaBackend& backend,
                       const Crossing& crossing, bool serial) {
  return Walk(plan, program, backend, crossing, serial).events();
}

}  // namespace strata::cuda
