#pragma once

// The Plan on streams: one host thread puts a run's tasks on their devices' streams in plan order,
// step after step, far ahead of the GPUs. A stream waits for what another one does only where the
// plan says so, or where memory changes hands. Nothing is synchronised inside a step.
//
// A device with a GPU to itself has two streams: one computes, one takes in what arrives and has
// the device's part in collectives. A device that shares its GPU does all on one.
//
// Where each device has a process of its own (Ranks), every process walks the same tasks and does
// its device's part of each: what it sends and receives of a transfer, both on the stream that it
// receives on, its part of a collective.
//
// Why nothing waits for ever. Tasks are put on streams in one order, the plan's, the same in every
// process; a group's participants stand together in it, where the last of them is, which no task
// that waits for one of them comes before; and the two ends of a transfer stand in one place. What
// is put on a stream waits for what stands earlier: pieces before it on its stream, pieces that it
// comes after, and nothing else but the other parts of its own collective or transfer, which stand
// in the same place. So of all that is not done, the first can always go on: all its parts are at
// the head of their streams. A host that waits (for memory that a GPU gives back, for room in a
// queue) waits for what it has put on streams already; of several such hosts, the one that stands
// first waits for nothing that another has yet to put.

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "exec/cuda/device/range.h"
#include "exec/cuda/peers/peers.h"
#include "exec/cuda/run/coded_batches.h"
#include "exec/cuda/run/collectives.h"
#include "exec/cuda/run/crossing.h"
#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/recorded_step.h"
#include "exec/cuda/run/stream_clock.h"
#include "exec/cuda/run/stream_work.h"
#include "exec/cuda/run/task_events.h"
#include "exec/runtime/executor.h"
#include "exec/runtime/ranks.h"

namespace strata::cuda {

/// Whom a run works with, beside its own devices' streams.
struct Communicators {
  const Ranks* ranks = nullptr;  ///< null where this process has all devices
  Peers* peers = nullptr;        ///< null where nothing is done together
};

/// How a run puts its tasks on streams.
struct LaunchMode {
  bool serial = false;               ///< each waits for the one before it on its GPU
  RecordedStep* recorded = nullptr;  ///< plays steps; null where none is
  bool task_times = true;            ///< as ExecutionOptions have them
};

class StreamRun {
 public:
  StreamRun(Executor& executor, const Plan& plan, CudaBackend& backend, std::size_t steps,
            const BatchOf& batch_of, const std::atomic<bool>* cancelled,
            Communicators communicators = {}, LaunchMode mode = {});
  ~StreamRun();
  Execution execute();

 private:
  void run_step(std::uint32_t step);
  void issue_step(std::uint32_t step);
  void issue_all(std::uint32_t step);
  void issue(Turn turn);
  void issue_alone(Turn turn);
  void issue_across(Turn turn);
  Ticket issue_sending(Turn turn, Staged& packed);
  void issue_together(std::uint32_t step, const Group& group);
  void do_alone(Turn turn, std::uint32_t stream);
  void wait_for(Turn turn, std::uint32_t stream);
  Ticket end_of(Turn turn, std::uint32_t stream);
  void stop_if_cancelled() const;
  void finish();
  template <class Work>
  void with_name(Turn turn, const Work& work);
  bool fails() const;
  Ticket& ticket(Turn turn) { return tickets_[turn.step % 2 * plan_.size() + turn.task()]; }
  Execution result();

  const Plan& plan_;
  CudaBackend& backend_;
  StreamWork work_;
  Communicators communicators_;
  LaunchMode mode_;
  StepRange played_;
  Crossing crossing_;
  Collectives collectives_;
  TaskEvents events_;
  StreamClock clock_;
  std::size_t steps_;
  const std::atomic<bool>* cancelled_;
  int exceptions_;                // under way when it began
  std::vector<Ticket> tickets_;   // of two steps
  std::vector<Seconds> issue_;    // by step: the host's time
  std::map<int, Ticket> last_;    // by GPU: what it does last, for who works serially
  std::vector<RangeName> names_;  // by task, then of a step; none where nobody watches
};

/// An Executor whose runs are StreamRuns.
class StreamExecutor {
 public:
  /// All must outlive it. `ranks`: where each device has a process of its own; all of them make it.
  /// Throws InputError where such processes are to record steps, and where bf16 has no place for
  /// the numbers of tokens.
  StreamExecutor(const Graph& graph, const Plan& plan, CudaBackend& backend,
                 const ExecutionOptions& options, const Ranks* ranks = nullptr);

  void set_parameters(LayerId layer, std::span<const float> whole) {
    executor_.set_parameters(layer, whole);
  }
  // All ranks, in one order.
  std::vector<float> parameters(LayerId layer) const;
  std::vector<float> gradients(LayerId layer) const;
  /// As Executor::run(); of several ranks, each looks at `cancelled` before the first step alone.
  Execution run(std::size_t steps, const BatchOf& batch_of, const std::atomic<bool>* cancelled);

 private:
  /// Adds those of a run; `before`: by device, how many its seat had.
  void count_plain_loops(std::span<const std::size_t> before);
  /// Of all ranks.
  PlainLoops plain_loops() const;

  const Graph& graph_;
  const Plan& plan_;
  CudaBackend& backend_;
  const Ranks* ranks_;
  bool serial_, task_times_;
  PlainLoops plain_loops_;             // of its own kernels, in this process
  std::optional<CodedBatches> coded_;  // in bf16
  std::unique_ptr<Peers> peers_;
  Executor executor_;
  std::optional<RecordedStep> recorded_;
};

}  // namespace strata::cuda
