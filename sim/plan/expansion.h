#pragma once

// The state of one expansion of a Step into tasks: what its actions have made so far, by layer and
// slot. Each kind of action has a function expand(), which makes its tasks and notes what they
// made. Internal to sim/plan.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/plan/lower.h"
#include "sim/plan/lowering_memo.h"
#include "sim/plan/plan_builder.h"
#include "sim/plan/shards.h"
#include "sim/step/redistribution.h"
#include "sim/step/step.h"

namespace strata {

/// The tasks of one layer by slot; empty where the layer lacks the phase.
struct LayerTasks {
  std::vector<TaskId> forward_statistics, forward, forward_sum;
  std::vector<TaskId> backward_statistics, backward_data, backward_weights;
  std::vector<TaskId> summed;  ///< what ends the statistics of the phase at hand

  /// The tasks that end the output.
  const std::vector<TaskId>& output() const { return forward_sum.empty() ? forward : forward_sum; }
};

/// A parameter shard in a bucket of which replicas share something.
struct InBucket {
  std::size_t bucket = 0, replica = 0;  ///< in Step::buckets; in its SharedBucket
  std::int64_t first = 0;               ///< its first value in the bucket
};

/// What all rounds share of a layer that has parameters, by slot.
struct LayerParameters {
  bool placed = false;
  std::vector<Values> buffers;
  std::vector<InBucket> shared;  ///< none where replicas share nothing
  std::vector<TaskId> ready;     ///< what gathers them for the pass at hand, if anything does
  std::vector<Values> gradients;
  std::vector<TaskId>
      added;                 ///< of the layer that holds the weight: who added to the gradient last
  std::vector<TaskId> read;  ///< whose gradient of the input read the parameters last
};

/// The buffers of one layer by slot; invalid where there is none.
struct LayerBuffers {
  std::vector<BufferId> output, output_gradient, saved;
  std::vector<BufferId> partial;  ///< of output: what the shard's terms come to
  std::vector<BufferId> forward_statistics, backward_statistics;
  std::vector<std::vector<BufferId>> inputs, input_gradients;  ///< [input][slot]
  std::vector<std::vector<BufferId>> data;  ///< inputs, before they were placed again
  LayerId adds_to;    ///< whose gradient of the input this layer's is added to
  LayerId summed_by;  ///< of a layer that reads for others: who added to the sum last
};

/// One input of one layer.
struct Edge {
  std::shared_ptr<const ClassBoxes> boxes;  ///< null if the producer is a network input
  bool returns_otherwise = false;  ///< gradients go back in other boxes than those that were read
  std::vector<View> gradients;     ///< by returned box: on its owner's device
  std::vector<std::vector<TaskId>> arrivals;  ///< by consumer's slot: transfers into it

  std::span<const NeededBox> read() const;
  std::span<const NeededBox> read_by(std::size_t consumer_shard) const;
  std::span<const NeededBox> returned() const {
    return returns_otherwise ? std::span(boxes->returned) : read();
  }
};

/// What replicas share of a bucket, by replica of those that have tasks.
struct SharedBucket {
  SyncAlgorithm algorithm = SyncAlgorithm::ring;
  std::vector<std::size_t> replicas;         ///< in Bucket::devices
  std::vector<BufferId> parameters;          ///< whole, or the replica's interval
  std::vector<BufferId> gradients;           ///< likewise, of all rounds
  std::vector<TaskId> reduced;               ///< who added to the replica's interval last
  std::uint32_t sum = 0;                     ///< the group that did
  std::vector<std::vector<TaskId>> updated;  ///< what ends the replica's update
};

/// A pass of some layers over one round that reads a bucket's parameters, which are gathered for
/// it.
struct Opening {
  std::size_t bucket = 0;
  Phase phase = Phase::forward;  ///< or backward_data
  std::uint32_t round = 0;       ///< of the pass
  std::vector<BufferId> buffers =
      {};  ///< by replica, as in SharedBucket; none before it is gathered
  std::vector<TaskId> ready = {};
  std::vector<std::size_t> before = {};  ///< on its devices
  std::vector<std::size_t> next = {};    ///< those that are gathered as this one begins
};

/// Inputs that a layer gathered once more, for its backward pass and for those of the layers that
/// it reads for.
struct GatheredAgain {
  std::vector<std::vector<BufferId>> inputs;  ///< [input][slot]
  std::vector<std::vector<TaskId>> ready;     ///< [slot]: what brings them
  bool empty() const { return inputs.empty(); }
};

/// Of an input that several layers read alike: the sum of what they give back.
struct SharedGradient {
  std::vector<BufferId> buffers;  ///< by slot; none where nobody shares it
  std::vector<TaskId> made;       ///< by slot
};

/// What a layer's backward pass puts together: its first tasks, and after them.
struct Backward {
  std::vector<std::vector<Piece>> sums, gathers;  ///< [slot]
  std::vector<SharedGradient> shared;             ///< by input, of the layer that reads for others
};

/// What some shards of a layer combine in each round.
struct StatisticsSum {
  Group group;
  std::vector<std::uint32_t> shards;  ///< those that have tasks
};

/// What all rounds have in common, worked out in the first; by layer.
struct SharedByRounds {
  explicit SharedByRounds(std::size_t layers)
      : edges(layers), sums(layers), forward_statistics(layers), backward_statistics(layers) {}

  std::vector<std::vector<std::shared_ptr<const ClassBoxes>>> edges;  ///< [layer][input]
  std::vector<std::shared_ptr<const ClassBoxes>> sums;
  std::vector<std::optional<std::vector<StatisticsSum>>> forward_statistics, backward_statistics;
};

/// What one round has of each layer.
struct Round {
  explicit Round(std::size_t layers)
      : tasks(layers),
        buffers(layers),
        edges(layers),
        edges_before(layers),
        delivered(layers),
        again(layers),
        backward(layers),
        added(layers) {}

  std::vector<LayerTasks> tasks;
  std::vector<LayerBuffers> buffers;
  std::vector<std::vector<Edge>> edges;         ///< [layer][input]
  std::vector<std::vector<Edge>> edges_before;  ///< likewise, before they were made again
  std::vector<std::vector<std::vector<TaskId>>> delivered;  ///< [layer][slot]: of its gradient
  std::vector<GatheredAgain> again;
  std::vector<Backward> backward;
  // Where replicas share gradients:
  std::vector<std::vector<TaskId>> added;        ///< LayerParameters::added
  std::vector<std::vector<BufferId>> gradients;  ///< by bucket and replica
};

/// Boxes that move between shards, and where they lie.
struct Moves {
  LayerId layer;          ///< of the readers, which tasks name
  std::size_t input = 0;  ///< of it
  Phase phase = Phase::forward;
  std::span<const NeededBox> boxes;
  bool forward = true;              ///< to the readers, else back to the owners
  LayerId from, to;                 ///< whose shards send, and receive
  std::span<const TaskId> made_by;  ///< by sender's slot
  std::function<View(const NeededBox&)> source;
  /// Where a box lies then; of a receiving layer that has none yet, buffers are made.
  std::function<View(const NeededBox&)> target = {};
  BufferKind kind = BufferKind::received_gradient;
  /// Where a library does them at once: in which groups, and what.
  std::shared_ptr<const ExchangeGroups> groups = {};
  GroupWork work = GroupWork::all_gather;
};

struct Arrivals {
  std::vector<std::vector<TaskId>> tasks;  ///< the transfers, by receiver's slot
  std::vector<View> views;                 ///< by box; of those that cross devices
};

struct Expansion {
  Expansion(const Graph& graph_of, const Cluster& cluster_of, const Strategy& strategy_of,
            const LowerOptions& options_of, const Step& step_of, LoweringMemo& memo_of,
            std::shared_ptr<const DeviceClasses> classes_of);

  const Graph& graph;
  const Cluster& cluster;
  const Strategy& strategy;
  const LowerOptions& options;
  const Step& step;
  LoweringMemo& memo;
  std::shared_ptr<const DeviceClasses> classes;  ///< null: all devices
  PlanBuilder builder;
  Shards shards;
  std::vector<std::uint32_t> ordinals;      ///< of the layers with parameters
  std::vector<LayerParameters> parameters;  ///< by layer
  std::vector<std::unique_ptr<Round>> rounds;
  std::vector<TaskId> last_sync;            ///< by device: its sync stream's last
  std::vector<TaskId> normed;               ///< by device: has the norm that updates wait for
  std::vector<std::vector<TaskId>> summed;  ///< by bucket: what ends the sum of gradients
  std::vector<SharedBucket> shared;         ///< by bucket; none where replicas share nothing
  std::vector<Opening> openings;
  std::map<const Action*, std::vector<std::size_t>> opens;  ///< by gather: in openings
  SharedByRounds by_rounds;
  std::vector<bool> in_place;        ///< by layer: works on its producer's buffer
  std::vector<bool> output_is_read;  ///< a backward pass reads what lies in the layer's buffer
  using ShapeKey =
      std::tuple<SyncAlgorithm, GroupWork, std::uint32_t, std::vector<DeviceId>, double, SentOnce>;
  std::map<ShapeKey, std::uint32_t> shapes;

  Round& round_of(const Action& action) { return *rounds[action.round]; }
  Bytes bytes_of(std::int64_t elements) const {
    return {elements * element_bytes(options.dtypes.values)};
  }
  KernelTraits kernels_of(DeviceId device) const {
    return options.kernels.empty() ? KernelTraits{} : options.kernels[device()];
  }
  Optimizer optimizer() const { return builder.so_far().optimizer(); }
  /// Where no copy engine does it, the receiving device copies.
  Stream moving_stream(DeviceId receiver) const {
    return cluster[receiver].copy_engine ? Stream::links : Stream::device;
  }
  Task task(TaskKind kind, Phase phase, LayerId layer, std::size_t shard) const {
    const DeviceId device = shards.device(layer, shard);
    return {
        kind, phase, layer, device, static_cast<std::uint32_t>(shard), 0, moving_stream(device)};
  }
};

void expand(Expansion& to, const Action& action, const Read& read);
void expand(Expansion& to, const Action& action, const GatherParameters& gather);
void expand(Expansion& to, const Action& action, const Compute& compute);
void expand(Expansion& to, const Action& action, const SumStatistics& sum);
void expand(Expansion& to, const Action& action, const SumPartialOutputs& sum);
void expand(Expansion& to, const Action& action, const SumOutputGradient& sum);
void expand(Expansion& to, const Action& action, const ReturnGradient& back);
void expand(Expansion& to, const Action& action, const Forget& forget);
void expand(Expansion& to, const Action& action, const PutTogetherAgain& again);
void expand(Expansion& to, const Action& action, const GatherInputsAgain& again);
void expand(Expansion& to, const Action& action, const SumGradients& sum);
void expand(Expansion& to, const Action& action, const ReduceScatter& reduce);
void expand(Expansion& to, const Action& action, const SumIntervals& sum);
void expand(Expansion& to, const Action& action, const UpdateLayer& update);
void expand(Expansion& to, const Action& action, const UpdateBucket& update);
void expand(Expansion& to, const Action& action, const UpdateInterval& update);
void expand(Expansion& to, const Action& action, const GatherUpdated& gather);
void expand(Expansion& to, const Action& action, const SumGradientNorm& sum);

// expand_buffers.cpp
BufferId add_tensor(Expansion& to, BufferKind kind, LayerId layer, std::size_t shard,
                    std::span<const Box> boxes, std::size_t input = 0, std::uint32_t copies = 1);
BufferId add_values(Expansion& to, BufferKind kind, LayerId layer, std::size_t shard,
                    std::int64_t values, Bytes bytes);
/// The box of the buffer in which `box` lies; where flows were put together it has none.
View holding(const Expansion& to, BufferId buffer, const Box& box);
/// Where a shard reads its producer's output as it lies, that; else what it gathers into.
void place_inputs(Expansion& to, Round& round, LayerId layer, std::size_t input, const Edge& edge);
/// What the forward pass of a layer makes and keeps.
void place_outputs(Expansion& to, Round& round, LayerId layer);
void place_statistics(Expansion& to, Round& round, LayerId layer, Phase phase);
void place_input_gradients(Expansion& to, Round& round, LayerId layer, std::size_t input);

// expand_moves.cpp
/// One transfer a pair of shards or, where those are too many, one a receiver.
Arrivals move_boxes(Expansion& to, const Moves& moves);
std::shared_ptr<const ClassBoxes> boxes_of_sums(Expansion& to, LayerId layer);
/// Null where boxes move pair by pair.
std::shared_ptr<const ExchangeGroups> groups_of_edge(Expansion& to, LayerId layer,
                                                     std::size_t input, bool returned);
std::shared_ptr<const ExchangeGroups> groups_of_sums(Expansion& to, LayerId layer);
/// By the producer's slot: a task after which it may send once more, when the layer's own shard on
/// the same device has its gradient.
std::vector<TaskId> about_to_go_back(Expansion& to, const Round& round, LayerId layer,
                                     LayerId producer);

// expand_compute.cpp: what the shard's tasks wait for
void wait_for_inputs(const Expansion& to, const Round& round, LayerId layer, std::size_t shard,
                     std::vector<TaskId>& after);
/// Of what is computed again for the backward pass of `again_for`: where a layer reads what was not
/// computed again, nothing else says that its time has come.
void wait_to_recompute(const Expansion& to, const Round& round, LayerId layer, std::size_t shard,
                       LayerId again_for, std::vector<TaskId>& after);
void wait_for_gradient(const Expansion& to, const Round& round, LayerId layer, std::size_t shard,
                       std::vector<TaskId>& after);
/// What a shard gathers of its own device's buffers, before its first kernel.
std::vector<Piece> gather_inputs(Expansion& to, const Round& round, LayerId layer,
                                 std::size_t shard);
/// The shard of the holder whose parameters the layer's shard has.
struct HeldAt {
  LayerId holder;
  std::size_t slot = 0;
};
HeldAt held_at(const Expansion& to, LayerId layer, std::size_t shard);

// expand_groups.cpp
/// `bytes`: of the tensor. `more`: what its latency is longer by than its links'.
std::uint32_t group_shape(Expansion& to, SyncAlgorithm algorithm,
                          const std::vector<DeviceId>& devices, Bytes bytes,
                          GroupWork work = GroupWork::all_reduce, Seconds more = {},
                          const SentOnce& sent = {});
bool have_copy_engines(const Expansion& to, std::span<const Task> participants);
std::vector<TaskId> sum_by_hand(Expansion& to, std::uint32_t group,
                                std::span<const Task> participants, std::span<const TaskId> made);
/// The tasks of those that have some.
std::vector<Task> participants(const Expansion& to, const Bucket& bucket);
Group bucket_group(Expansion& to, const Bucket& bucket, SyncAlgorithm algorithm, GroupWork work,
                   Seconds more = {});
/// Of buckets that are summed at once.
SyncAlgorithm algorithm_of(Expansion& to, std::span<const Bucket* const> buckets);
/// `kind`: of the tasks, and their phase. `after`: by task. Where devices do it by hand, each waits
/// for all, whose memory it reads.
std::vector<TaskId> join_in_turn(Expansion& to, std::vector<Task> tasks, std::uint32_t group,
                                 const Task& kind, const std::vector<std::vector<TaskId>>& after);
/// By those of the bucket's replicas that have tasks.
std::vector<TaskId> join_bucket(Expansion& to, const Bucket& bucket, std::uint32_t group,
                                const Task& kind, const std::vector<std::vector<TaskId>>& after);

// expand_parameters.cpp
/// `sent`: what a server adds up first.
TaskId add_update(Expansion& to, LayerId layer, std::size_t shard, std::span<const TaskId> after,
                  std::span<const Piece> sent = {});
void place_buckets(Expansion& to);
void place_parameters(Expansion& to, LayerId layer);
bool is_expanded(const Expansion& to, const Bucket& bucket);
Interval interval_of(const Bucket& bucket, std::size_t replica);
BufferId add_bucket_values(Expansion& to, BufferKind kind, const Bucket& bucket,
                           std::size_t replica, std::int64_t values);
Values parameters_of(const Expansion& to, LayerId layer, std::size_t shard);
Values gradients_of(Expansion& to, Round& round, LayerId layer, std::size_t shard);
/// Where replicas share the gradients of the holder's slot; null where they do not.
const InBucket* gradients_shared_at(const Expansion& to, LayerId holder, std::size_t slot);
/// Who added to the gradient of the shard's parameters last: in any round or, where replicas share
/// gradients, in this.
TaskId& last_added(Expansion& to, Round& round, LayerId layer, std::size_t shard);
/// Who reads the shard's parameters in a backward pass.
void wait_for_readers(const Expansion& to, LayerId layer, std::size_t shard,
                      std::vector<TaskId>& after);
/// Which passes read which buckets, in the order of the Step. Each gathers as the one before it on
/// any of its devices begins, so that a device has two at most at once.
void plan_openings(Expansion& to);

}  // namespace strata
