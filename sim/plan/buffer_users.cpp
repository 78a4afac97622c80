#include "sim/plan/buffer_users.h"

#include <algorithm>
#include <utility>

#include "sim/plan/plan.h"

namespace strata {
namespace {

struct Use {
  TaskId task;
  bool writes = false;
};

// The uses of every buffer, in plan order.
class UsesByBuffer {
 public:
  explicit UsesByBuffer(const Plan& plan) : ends_(plan.buffers().size() + 1) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan.for_each_use(TaskId(i), [&](BufferId buffer, Access) { ++ends_[buffer() + 1]; });
    }
    for (std::size_t i = 1; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    uses_.resize(ends_.back());
    std::vector<std::uint32_t> next(ends_.begin(), ends_.end() - 1);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      plan.for_each_use(TaskId(i), [&](BufferId buffer, Access access) {
        uses_[next[buffer()]++] = {TaskId(i), access != Access::read};
      });
    }
  }

  std::span<const Use> of(std::size_t buffer) const {
    return std::span(uses_).subspan(ends_[buffer], ends_[buffer + 1] - ends_[buffer]);
  }

 private:
  std::vector<std::uint32_t> ends_;
  std::vector<Use> uses_;
};

bool takes_statistics(const Task& task) {
  return task.kind == TaskKind::compute &&
         (task.phase == Phase::forward_statistics || task.phase == Phase::backward_statistics);
}

// Walks one buffer after the other. What was marked for an earlier buffer counts for nothing.
class Walk {
 public:
  explicit Walk(const Plan& plan) : plan_(plan), uses_(plan), marks_(plan.size()) {}

  FirstAndLastUsers run() {
    for (std::size_t i = 0; i < plan_.buffers().size(); ++i) {
      plan_.buffers()[i].lasts() ? find_lasting(i) : find(i);
      found_.first.end_buffer();
      found_.last.end_buffer();
    }
    return std::move(found_);
  }

 private:
  void find_lasting(std::size_t buffer) {
    const std::span<const Use> uses = uses_.of(buffer);
    users_.clear();
    for (const Use& use : uses) {  // whoever comes after who writes it waits for that
      if (use.writes && !users_.empty()) break;
      const Task& task = plan_[use.task];
      const std::pair user(task.layer, task.device);
      if (std::find(users_.begin(), users_.end(), user) != users_.end()) continue;
      users_.push_back(user);
      found_.first.add(use.task);
      if (use.writes) break;
    }
    const auto last =
        std::find_if(uses.rbegin(), uses.rend(), [](const Use& use) { return use.writes; });
    if (last != uses.rend()) found_.last.add(last->task);
  }

  void find(std::size_t buffer) {
    mark_ = static_cast<std::uint32_t>(buffer) + 1;
    tasks_.clear();
    bool written = false;
    for (const Use& use : uses_.of(buffer)) {
      if (tasks_.empty() || tasks_.back() != use.task) tasks_.push_back(use.task);
      marks_[use.task()].member = mark_;
      if (use.writes) marks_[use.task()].writes = mark_;
      written = written || use.writes;
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) order(i);
    for (TaskId task : tasks_) {
      const bool begins = !written || marks_[task()].writes == mark_;
      if (begins && marks_[task()].follows != mark_) found_.first.add(task);
      if (marks_[task()].awaited != mark_) found_.last.add(task);
    }
  }

  // A shard's passes come after its statistics, though a group's sum stands between them.
  void order(std::size_t i) {
    const TaskId task = tasks_[i];
    const std::span<const TaskId> dependencies = plan_.dependencies(task);
    for (std::size_t k = dependencies.size(); k-- > 0;) {
      const TaskId before = dependencies[k];
      if (before < tasks_.front()) break;
      if (marks_[before()].member == mark_) follow(task, before);
    }
    if (!takes_statistics(plan_[task])) return;
    for (std::size_t k = i + 1; k < tasks_.size(); ++k) {
      if (of_one_shard(plan_[task], plan_[tasks_[k]])) follow(tasks_[k], task);
    }
  }

  static bool of_one_shard(const Task& a, const Task& b) {
    return b.kind == TaskKind::compute && a.layer == b.layer && a.shard == b.shard;
  }

  void follow(TaskId task, TaskId before) {
    marks_[task()].follows = mark_;
    marks_[before()].awaited = mark_;
  }

  const Plan& plan_;
  UsesByBuffer uses_;
  std::uint32_t mark_ = 0;  // of the buffer, from 1
  // By task: the mark of the last buffer that it uses, that it writes, after another user of which
  // it comes, before another user of which it comes.
  struct Marks {
    std::uint32_t member = 0, writes = 0, follows = 0, awaited = 0;
  };
  std::vector<Marks> marks_;
  std::vector<TaskId> tasks_;                        // that use the buffer
  std::vector<std::pair<LayerId, DeviceId>> users_;  // likewise
  FirstAndLastUsers found_;
};

}  // namespace

FirstAndLastUsers first_and_last_users(const Plan& plan) {
  return Walk(plan).run();
}

}  // namespace strata
