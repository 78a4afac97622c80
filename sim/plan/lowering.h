#pragma once

// The state of one lowering, shared by its parts: forward, backward, synchronisation, buffers.
// Internal to sim/plan.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/plan/lower.h"
#include "sim/plan/lowering_memo.h"
#include "sim/plan/plan_builder.h"
#include "sim/step/buckets.h"
#include "sim/step/redistribution.h"
#include "sim/step/shared_readings.h"
#include "sim/strategy/stages.h"

namespace strata {

/// The shards of a layer that are lowered.
struct LoweredShards {
  std::vector<std::uint32_t> shards;
  std::vector<std::uint32_t> slots;  ///< by shard of the layer: where in `shards` it stands
};

/// The tasks of one layer by slot; empty where the layer lacks the phase.
struct LayerTasks {
  std::vector<TaskId> forward_statistics, forward, forward_sum;
  std::vector<TaskId> backward_statistics, backward_data, backward_weights;

  /// The tasks that end the output.
  const std::vector<TaskId>& output() const { return forward_sum.empty() ? forward : forward_sum; }
};

/// A parameter shard in a bucket of which replicas share something.
struct InBucket {
  std::size_t bucket = 0, replica = 0;  ///< in Lowering::buckets_; in its SharedBucket
  std::int64_t first = 0;               ///< its first value in the bucket
};

/// What all rounds share of a layer that has parameters, by slot.
struct LayerParameters {
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
};

/// What replicas share of a bucket, by replica of those that are lowered.
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

/// What one shard's readers give back of its output, in their order.
struct GradientPart {
  View view;
  Box box;
  std::uint32_t copies = 1;  ///< so many are alike
  bool whole = false;        ///< covers the shard, lying as the shard does
};

/// Of an input that several layers read alike: the sum of what they give back.
struct SharedGradient {
  std::vector<BufferId> buffers;  ///< by slot; none where nobody shares it
  std::vector<TaskId> made;       ///< by slot
};

/// What a layer's backward pass puts together: its first tasks, and after them.
struct Backward {
  std::vector<std::vector<Piece>> sums, gathers;  ///< [slot]
  std::vector<TaskId> summed;                     ///< by slot: what ends the statistics
  std::vector<SharedGradient> shared;             ///< by input, of the layer that reads for others
};

/// Which of a layer's gradients are lowered: those of its inputs, those of its parameters, or both
/// shard by shard.
struct BackwardPass {
  bool data = true, weights = true;
};

/// What one round has of each layer.
/// What some shards of a layer combine in each round.
struct StatisticsSum {
  Group group;
  std::vector<std::uint32_t> shards;  ///< those that are lowered
};

/// What all rounds have in common, worked out in the first; by layer.
struct SharedByRounds {
  explicit SharedByRounds(std::size_t layers)
      : edges(layers), sums(layers), forward_statistics(layers), backward_statistics(layers) {}

  std::vector<std::vector<std::shared_ptr<const ClassBoxes>>> edges;  ///< [layer][input]
  std::vector<std::shared_ptr<const ClassBoxes>> sums;
  std::vector<std::optional<std::vector<StatisticsSum>>> forward_statistics, backward_statistics;
};

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
  std::vector<std::vector<Edge>> edges_before;  ///< likewise, before they were lowered again
  std::vector<std::vector<std::vector<TaskId>>> delivered;  ///< [layer][slot]: of its gradient
  std::vector<GatheredAgain> again;
  std::vector<Backward> backward;
  std::vector<bool> recomputed;  ///< by segment
  // Where replicas share gradients:
  std::vector<std::vector<TaskId>> added;        ///< LayerParameters::added
  std::vector<std::vector<BufferId>> gradients;  ///< by bucket and lowered replica
  std::vector<std::size_t> parts_left;           ///< by bucket: whose gradients are to come
  std::vector<std::uint32_t> layers_left;        ///< by holder of a weight: likewise
};

class Lowering {
 public:
  Lowering(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
           const LowerOptions& options, LoweringMemo& memo,
           std::shared_ptr<const DeviceClasses> classes);
  Plan run() &&;

 private:
  void begin_round(std::uint32_t round);
  void look_at_limits() const;
  void lower_instance(const Instance& instance, const Stages& stages);

  // lower_forward.cpp
  void lower_forward(LayerId layer);
  std::shared_ptr<const ClassBoxes> boxes_of_edge(LayerId layer, std::size_t input);
  std::shared_ptr<const ClassBoxes> boxes_of_sums(LayerId layer);
  Edge lower_edge(LayerId layer, std::size_t input);
  void lower_sums(LayerId layer);
  void add_input_ready(LayerId layer, std::size_t shard, std::vector<TaskId>& ready) const;
  std::vector<Piece> gather_inputs(LayerId layer, std::size_t shard) const;
  std::span<const Operand> forward_operands(LayerId layer, std::size_t shard, Phase phase);
  void add_inputs(LayerId layer, std::size_t shard,
                  const std::vector<std::vector<BufferId>>& inputs);

  // lower_backward.cpp
  void lower_backward(LayerId layer, BackwardPass pass);
  void begin_backward(LayerId layer);
  /// Into after_.
  void wait_for_gradient(LayerId layer, std::size_t shard);
  TaskId add_backward(LayerId layer, std::size_t shard, Phase phase);
  bool gives_parameter_gradients(LayerId layer, std::size_t shard, Phase phase) const;
  /// Who added to the gradient of the shard's parameters last, in any round.
  TaskId& last_added(LayerId layer, std::size_t shard);
  void return_gradients(LayerId layer, std::size_t input);
  /// Adds up what the shard and those that share a reading with it give back.
  void sum_shared_gradients(LayerId layer, std::size_t shard);
  bool lies_alone(const View& view, const Box& box) const;
  std::vector<std::vector<GradientPart>> gradient_parts(LayerId layer) const;
  std::vector<std::vector<Piece>> sum_gradient_parts(LayerId layer);
  std::vector<std::vector<Piece>> spread_gradients(LayerId layer,
                                                   std::vector<std::vector<Piece>> sums);
  /// Returns, by slot, what the layer's first backward task takes of its own device's buffers.
  std::vector<std::vector<Piece>> gather_again(LayerId layer);
  bool knows_when(LayerId layer, const Edge& edge) const;
  std::vector<TaskId> about_to_go_back(LayerId layer, LayerId producer);
  std::span<const Operand> backward_operands(LayerId layer, std::size_t shard, Phase phase);

  // recompute.cpp
  void recompute_segment_of(LayerId layer);
  std::vector<LayerId> segment_until(LayerId layer) const;
  std::vector<LayerId> recomputed_with(LayerId layer) const;
  void forget_forward(LayerId layer);
  void forget_inputs(LayerId layer);
  void read_again(LayerId layer);
  void wait_to_recompute(LayerId layer, std::size_t shard);
  bool is_computed_again(LayerId layer) const {
    return !again_layers_.empty() && again_layers_[layer()];
  }

  // lower_sync.cpp
  void synchronise(LayerId layer);
  SyncAlgorithm algorithm_of(std::span<const Bucket* const> buckets);
  /// `server`: of the part's replicas.
  std::vector<TaskId> send_to_server(const BucketPart& part, std::size_t server, Bytes bytes,
                                     std::vector<Piece>& sent);
  TaskId add_update(LayerId layer, std::size_t shard, std::span<const TaskId> after,
                    std::span<const Piece> sent = {});
  void add_readers(LayerId layer, std::size_t shard);
  void update_with_server(std::size_t k, const Bucket& bucket);
  void update_all(const Bucket& bucket, std::span<const std::size_t> replicas,
                  std::span<const TaskId> summed);
  void update_with_collective(const Bucket& bucket, SyncAlgorithm algorithm);
  void update_alone(LayerId layer, std::uint32_t shard);
  /// At once or, where devices compute instances in turn, after all of them, as frameworks do: an
  /// update among them would hold up the stages that wait for the next one's gradients.
  void update_late(std::function<void()> update);
  std::vector<TaskId> exchange_statistics(LayerId layer, Phase phase,
                                          const std::vector<TaskId>& partial);
  const std::vector<StatisticsSum>& statistics_sums(LayerId layer, Phase phase);
  void sum_statistics(LayerId layer, Phase phase, std::uint32_t group,
                      std::span<const std::uint32_t> shards, std::vector<TaskId>& made);
  std::vector<TaskId> sum_gradients(const Bucket& bucket, std::uint32_t group);
  std::vector<TaskId> join_collective(const Bucket& bucket, std::uint32_t group);
  /// Of which the layer's gradients are the last ones.
  std::vector<const Bucket*> buckets_that_end_with(LayerId layer);
  TaskId parameter_gradient(const BucketPart& part, std::size_t replica) const {
    return parameter_gradient(part.layer_of(replica), part.shards[replica]);
  }
  TaskId parameter_gradient(LayerId layer, std::size_t shard) const {
    return parameters_of(layer).added[slot(layer, shard)];
  }
  std::vector<CollectivePhase> lowered_phases(std::vector<CollectivePhase> phases) const;
  /// Of these shards those that are lowered.
  std::vector<std::uint32_t> lowered_of(LayerId layer, std::span<const std::uint32_t> shards) const;
  /// `bytes`: of the tensor.
  std::uint32_t group_shape(SyncAlgorithm algorithm, const std::vector<DeviceId>& devices,
                            Bytes bytes, GroupWork work = GroupWork::all_reduce);
  std::vector<TaskId> sum_by_hand(std::uint32_t group, std::span<const Task> participants,
                                  std::span<const TaskId> made);
  bool have_copy_engines(std::span<const Task> participants) const;
  /// The tasks of those that are lowered.
  std::vector<Task> participants(const Bucket& bucket) const;

  // lower_zero.cpp
  bool shares_gradients() const { return options_.sync.zero >= Zero::gradients; }
  bool shares_parameters() const { return options_.sync.zero >= Zero::parameters; }
  /// Where stages hold copies of a weight, only its optimizer's state is shared: a sum in each
  /// round would have the last stage wait for the first one's gradient.
  bool shares_gradients(const Bucket& bucket) const {
    return shares_gradients() && !has_copies(bucket);
  }
  bool shares_parameters(const Bucket& bucket) const {
    return shares_parameters() && !has_copies(bucket);
  }
  /// Where replicas share the gradients of the holder's slot; null where they do not.
  const InBucket* gradients_shared_at(LayerId holder, std::size_t slot) const;
  const Bucket& bucket_of(const InBucket& lies) const { return buckets_[lies.bucket]; }
  Interval interval_of(const Bucket& bucket, std::size_t replica) const {
    return share_of(bucket.values, bucket.devices.size(), replica);
  }
  BufferId add_bucket_values(BufferKind kind, const Bucket& bucket, std::size_t replica,
                             std::int64_t values);
  void place_shared();
  void choose_algorithms();
  void place_round_gradients(std::size_t bucket);
  void plan_openings(std::span<const Instance> instances, const Stages& stages);
  void open_parameters(LayerId layer, Pass pass);
  /// In after_.
  void wait_for_parameters(LayerId layer, std::size_t shard);
  void gather_parameters(Opening& opening, std::vector<std::vector<TaskId>> after);
  Group bucket_group(const Bucket& bucket, SyncAlgorithm algorithm, GroupWork work);
  std::vector<TaskId> join_bucket(const Bucket& bucket, std::uint32_t group, const Task& kind,
                                  const std::vector<std::vector<TaskId>>& after);
  void reduce_round(LayerId layer);
  /// Into after_.
  void wait_for_last_round(LayerId layer, std::size_t shard);
  void reduce_bucket(std::size_t bucket);
  void update_intervals(std::size_t bucket);
  void update_shared(std::size_t bucket);
  void gather_updated();
  TaskId update_interval(const Bucket& bucket, const SharedBucket& shared, std::size_t at,
                         std::span<const TaskId> after);

  // lower_buffers.cpp
  void place_inputs(LayerId layer, std::size_t input, const Edge& edge);
  void place_outputs(LayerId layer);
  void place_buckets();
  void place_parameters(LayerId layer);
  void share_parameters(LayerId layer);
  BufferId add_state(LayerId layer, std::size_t shard);
  void place_statistics(LayerId layer, Phase phase);
  void place_saved(LayerId layer);
  void place_input_gradients(LayerId layer, std::size_t input);
  bool may_overwrite(LayerId layer) const;
  bool wants_gradient(LayerId layer, std::size_t input) const;
  /// The layer that reads the layer's only input for it, too; invalid where it does so itself.
  LayerId shared_reader(LayerId layer) const { return shared_readers_[layer()]; }
  LayerId reader_for(LayerId layer) const {
    return shared_reader(layer).valid() ? shared_reader(layer) : layer;
  }
  /// Whether another layer has for this one what arrives of the input.
  bool is_read_by_another(LayerId layer, std::size_t input) const {
    return shared_reader(layer).valid() || shared_readings_.contains({layer, input});
  }
  BufferId add_tensor(BufferKind kind, LayerId layer, std::size_t shard, std::span<const Box> boxes,
                      std::size_t input = 0, std::uint32_t copies = 1);
  BufferId add_boxes(Buffer buffer, std::span<const Box> boxes, std::uint32_t copies = 1);
  BufferId add_values(BufferKind kind, LayerId layer, std::size_t shard, std::int64_t values,
                      Bytes bytes);
  BufferId receive(BufferKind kind, LayerId layer, std::size_t shard, std::vector<Piece>& pieces,
                   std::uint32_t copies);
  View holding(BufferId buffer, const Box& box) const;

  /// Where the shard's parameters, and their gradients of the round, lie; those of the layer whose
  /// weight it shares.
  Values parameters_of(LayerId layer, std::size_t shard) const;
  Values gradients_of(LayerId layer, std::size_t shard);
  LayerParameters& parameters_of(LayerId layer) { return parameters_[layer()]; }
  const LayerParameters& parameters_of(LayerId layer) const { return parameters_[layer()]; }
  // Of the round that is lowered.
  LayerTasks& tasks_of(LayerId layer) { return round_->tasks[layer()]; }
  const LayerTasks& tasks_of(LayerId layer) const { return round_->tasks[layer()]; }
  LayerBuffers& buffers_of(LayerId layer) { return round_->buffers[layer()]; }
  const LayerBuffers& buffers_of(LayerId layer) const { return round_->buffers[layer()]; }
  std::vector<Edge>& edges_of(LayerId layer) { return round_->edges[layer()]; }
  const std::vector<Edge>& edges_of(LayerId layer) const { return round_->edges[layer()]; }
  std::vector<std::vector<TaskId>>& delivered_of(LayerId layer) {
    return round_->delivered[layer()];
  }
  Backward& backward_of(LayerId layer) { return round_->backward[layer()]; }
  GatheredAgain& again_of(LayerId layer) { return round_->again[layer()]; }

  bool is_input(LayerId layer) const;
  bool comes_from_another_stage(LayerId layer, std::size_t input) const {
    return strata::comes_from_another_stage(graph_, stages_, layer, input);
  }
  /// Whether it holds parameters that are updated.
  bool trains(LayerId layer) const;
  /// Whether several layers hold copies of its weight, of which it is one.
  bool is_copied(LayerId layer) const { return copied_[layer()]; }
  /// What the shard has of the output, what it owns of the output's gradient, and what it computes.
  Box held_box(LayerId layer, std::size_t shard) const;
  Box owned_box(LayerId layer, std::size_t shard) const;
  Tile shard_tile(LayerId layer, std::size_t shard) const;
  bool is_lowered(DeviceId device) const {
    return !classes_ || classes_->is_representative(device);
  }
  std::span<const NeededBox> returned_boxes(const Edge& edge) const {
    return edge.returns_otherwise ? std::span(edge.boxes->returned) : edge.read();
  }
  bool repeats(LayerId layer) const { return partitions_[layer()].repeats(); }
  bool divides_sums(LayerId layer) const {
    return strategy_[layer].degrees.r > 1 && !repeats(layer);
  }
  /// Whether the gradient of the output goes from those who own it to others that need it.
  bool spreads_gradient(LayerId layer) const {
    return strategy_[layer].degrees.r > 1 && !gets_whole_gradient_[layer()];
  }
  std::span<const std::uint32_t> lowered(LayerId layer) const { return lowered_[layer()]->shards; }
  std::size_t slot(LayerId layer, std::size_t shard) const {
    return lowered_[layer()]->slots[shard];
  }
  /// Of the other layer's shard on the same device.
  std::size_t slot_beside(LayerId other, LayerId layer, std::size_t shard) const;
  KernelTraits kernels_of(DeviceId device) const {
    return options_.kernels.empty() ? KernelTraits{} : options_.kernels[device()];
  }
  Optimizer optimizer() const { return builder_.so_far().optimizer(); }
  DeviceId device_of(LayerId layer, std::size_t shard) const {
    return strategy_[layer].devices[shard];
  }
  /// Where no copy engine does it, the receiving device copies.
  Stream moving_stream(DeviceId receiver) const {
    return cluster_[receiver].copy_engine ? Stream::links : Stream::device;
  }
  Bytes bytes_of(std::int64_t elements) const {
    return {elements * element_bytes(options_.dtypes.values)};
  }
  Task task(TaskKind kind, Phase phase, LayerId layer, std::size_t shard) const {
    const DeviceId device = device_of(layer, shard);
    return {
        kind, phase, layer, device, static_cast<std::uint32_t>(shard), 0, moving_stream(device)};
  }
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
  };
  struct Arrivals {
    std::vector<std::vector<TaskId>> tasks;  ///< the transfers, by receiver's slot
    std::vector<View> views;                 ///< by box; of those that cross devices
  };
  std::size_t count_pairs(const std::vector<const NeededBox*>& boxes, bool forward) const;
  /// One transfer a pair of shards or, where those are too many, one a receiver.
  Arrivals move_boxes(const Moves& moves);

  const Graph& graph_;
  const Cluster& cluster_;
  const Strategy& strategy_;
  LowerOptions options_;
  std::shared_ptr<const DeviceClasses> classes_;  ///< null: all devices
  PlanBuilder builder_;
  std::vector<Partition> partitions_;                          ///< by layer
  std::vector<std::shared_ptr<const LoweredShards>> lowered_;  ///< by layer; equal ones are shared
  std::vector<bool> requires_gradient_;
  std::vector<bool> gets_whole_gradient_;              ///< by layer
  std::vector<LayerId> shared_readers_;                ///< likewise
  std::map<Reading, Reading> shared_readings_;         ///< of what another stage made
  std::map<Reading, std::vector<Reading>> read_with_;  ///< by the first of them: the others
  std::vector<LayerId> holders_;         ///< by layer: whose parameters it has on its devices
  std::vector<bool> copied_;             ///< by layer
  std::vector<std::uint32_t> ordinals_;  ///< of the layers with parameters
  std::vector<Bucket> buckets_;          ///< by the layer that ends them, last layer first
  std::vector<std::vector<std::size_t>> buckets_with_;  ///< by layer: in buckets_
  std::vector<std::size_t> parts_left_;                 ///< by bucket: whose gradients are to come
  std::vector<LayerParameters> parameters_;             ///< by layer
  std::vector<std::unique_ptr<Round>> rounds_;
  Stages stages_;
  bool in_turn_;  ///< devices compute instances one after another
  std::vector<std::function<void()>> late_updates_;
  std::vector<std::size_t> layers_left_;  ///< by round: whose backward pass is to come
  Round* round_ = nullptr;                ///< that is lowered
  /// By layer that holds a weight: whose gradients of it are to come, of all that compute with it.
  std::vector<std::uint32_t> rounds_left_;
  std::vector<TaskId> last_sync_;     ///< by device: its sync stream's last
  std::vector<SharedBucket> shared_;  ///< by bucket; none where replicas share nothing
  std::vector<Opening> openings_;
  std::map<std::pair<std::size_t, LayerId>, std::vector<std::size_t>>
      opens_;                 ///< by instance, layer
  std::size_t instance_ = 0;  ///< that is lowered
  using ShapeKey = std::tuple<SyncAlgorithm, GroupWork, std::uint32_t, std::vector<DeviceId>>;
  std::map<ShapeKey, std::uint32_t> shapes_;
  LoweringMemo& memo_;
  SharedByRounds shared_by_rounds_;
  SyncCosts& sync_costs_;
  std::vector<bool> in_place_;        ///< works on its producer's buffer
  std::vector<bool> output_is_read_;  ///< a backward pass reads what lies in the layer's buffer
  std::vector<bool> again_layers_;    ///< by layer: computed again; empty where none is
  LayerId recomputes_after_;          ///< whose gradient comes first, while a segment is recomputed
  // Of the task at hand.
  std::vector<TaskId> after_;
  std::vector<Operand> operands_;
};

}  // namespace strata
