#include "exec/cuda/run/recorded_step.h"

#include <algorithm>

#include "exec/cuda/run/recorded_streams.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

std::array<std::int64_t, 3> moved_by(StreamWork& work) {
  return {work.moved()[0], work.moved()[1], work.moved()[2]};
}

std::intptr_t address_of(const LossPart* losses) {
  return reinterpret_cast<std::intptr_t>(losses);
}

}  // namespace

StepRange RecordedStep::played_of(std::size_t steps) const {
  const std::size_t begin = kPlainSteps - std::min(plain_, kPlainSteps);
  return {begin, std::max(begin, steps - std::min<std::size_t>(steps, 1))};
}

// Inputs first: who loads may need more memory to work in, which would move what was recorded.
void RecordedStep::play(StreamWork& work, std::uint32_t step, const std::function<void()>& issue) {
  load(work, step);
  if (!graph_ || memory_ != memory()) {
    record(work, step, issue);
  } else {
    for (std::size_t i = 0; i < moved_.size(); ++i) work.moved()[i] += moved_[i];
  }
  work.begin_step(step, address_of(work.losses_of(step)) - losses_);
  cuda::play(*graph_, backend_);
}

void RecordedStep::load(StreamWork& work, std::uint32_t step) {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    if (!work.has_network_inputs(TaskId(i))) continue;
    backend_.enter(plan_[TaskId(i)].device);
    work.load({step, TaskId(i)});
  }
}

void RecordedStep::record(StreamWork& work, std::uint32_t step,
                          const std::function<void()>& issue) {
  const Moved before = moved_by(work);
  if (graph_) backend_.finish();
  graph_.reset();
  memory_ = memory(), losses_ = address_of(work.losses_of(step));
  RecordedStreams recording(backend_);
  issue();
  graph_ = recording.end();
  if (memory_ != memory()) {
    throw EnvironmentError("out of memory: a step can't be recorded; allowed: without --graph");
  }
  moved_ = moved_by(work);
  for (std::size_t i = 0; i < moved_.size(); ++i) moved_[i] -= before[i];
}

}  // namespace strata::cuda
