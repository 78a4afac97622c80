#include "sim/exporters/chakra/chakra.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cost/work.h"
#include "sim/exporters/chakra/node.h"
#include "sim/exporters/chakra/process_groups.h"
#include "sim/exporters/chakra/waits.h"
#include "sim/graph/regions.h"
#include "sim/plan/task_title.h"
#include "sim/profile/measured_cost.h"

namespace strata {
namespace {

std::size_t pieces_of_a_step(const Plan& plan) {
  std::size_t pieces = 0;
  for (const Transfer& transfer : plan.transfers())
    pieces = std::max<std::size_t>(pieces, transfer.last_piece);
  return pieces;
}

// Tags are int32 and tell a trace's messages apart, those of collectives too.
void check_tags(std::size_t steps, std::size_t messages) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  if (steps * messages <= kMost) return;
  throw InputError(
      fmt::format("{} steps of {} messages are more than Chakra's tags tell apart; "
                  "allowed: {} in all",
                  steps, messages, kMost));
}

/// The nodes of a task in its own device's file: a transfer by itself has one a piece.
struct Nodes {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

class ChakraWriter {
 public:
  ChakraWriter(const Graph& graph, const Cluster& cluster, const Plan& plan,
               const Timeline& timeline)
      : graph_(graph),
        cluster_(cluster),
        plan_(plan),
        timeline_(timeline),
        waits_(plan),
        pieces_(pieces_of_a_step(plan)),
        collectives_(plan.groups().size() + plan.exchanges().size()) {
    check_tags(timeline.steps(), std::max(pieces_, collectives_));
    nodes_.resize(timeline.steps() * plan.size());
    next_id_.resize(plan.device_count());
    traces_.files.resize(plan.device_count());
    sends_.resize(timeline.steps() * pieces_);
  }

  ChakraTraces run() && {
    for (std::size_t i = 0; i < plan_.device_count(); ++i) begin_file(DeviceId(i));
    for (std::size_t step = 0; step < timeline_.steps(); ++step) {
      for (std::size_t i = 0; i < plan_.size(); ++i) write_task({step, TaskId(i)});
    }
    return std::move(traces_);
  }

 private:
  void begin_file(DeviceId device) {
    traces_.files[device()] = print_chakra_header(
        {string_attribute("model", graph_.name()), string_attribute("cluster", cluster_.name()),
         string_attribute("device", cluster_[device].name),
         int64_attribute("rank", static_cast<std::int64_t>(device())),
         int64_attribute("world_size", static_cast<std::int64_t>(plan_.device_count())),
         int64_attribute("batch", graph_.batch()), string_attribute("dtype", name(plan_.dtype()))});
    ChakraNode node{0, "process groups", NodeType::metadata, {}, {}, process_groups(plan_, device),
                    {}};
    write(device, std::move(node), {});
  }

  std::uint64_t write(DeviceId device, ChakraNode node, const Span& span) {
    node.id = next_id_[device()]++;
    const std::uint64_t id = node.id;
    traces_.files[device()] += print_node(std::move(node), span);
    ++traces_.nodes;
    return id;
  }

  // In the device's file, where a transfer that it only sends has the sending nodes.
  std::vector<std::uint64_t> ids(const std::vector<StepTask>& tasks, DeviceId device) const {
    std::vector<std::uint64_t> all;
    for (const StepTask& at : tasks) {
      const Task& task = plan_[at.task];
      const Nodes& nodes = nodes_[at.step * plan_.size() + at.task()];
      if (task.device == device && nodes.count == 0) {
        throw InternalError("a task waits for one that comes after it in the plan");
      }
      for (std::uint64_t i = 0; task.device == device && i < nodes.count; ++i) {
        all.push_back(nodes.first + i);
      }
      if (task.device != device) add_sends(at, device, all);
    }
    return all;
  }

  void add_sends(StepTask at, DeviceId device, std::vector<std::uint64_t>& all) const {
    const Transfer& transfer = plan_.transfers()[plan_[at.task].detail];
    for (std::size_t i = transfer.first_piece; i < transfer.last_piece; ++i) {
      const Piece& piece = plan_.pieces(transfer)[i - transfer.first_piece];
      if (piece.from == device) all.push_back(sends_[at.step * pieces_ + i]);
    }
  }

  ChakraNode node_of(StepTask at, DeviceId device, NodeType type) const {
    const Task& task = plan_[at.task];
    ChakraNode node{
        0, task_title(graph_, plan_, task), type, ids(waits_.on(device, at), device), {}, {}, {}};
    node.attributes = {bool_attribute("is_cpu_op", false),
                       int64_attribute("step", static_cast<std::int64_t>(at.step)),
                       int64_attribute("task", static_cast<std::int64_t>(at.task())),
                       string_attribute("layer", graph_[task.layer].name),
                       string_attribute("phase", name(task.phase)),
                       int64_attribute("shard", task.shard)};
    if (const std::string product = product_text(graph_, plan_, task); !product.empty()) {
      node.attributes.push_back(string_attribute("product", product));
    }
    return node;
  }

  void write_task(StepTask at) {
    const Task& task = plan_[at.task];
    if (task.kind == TaskKind::join) return;
    traces_.left_out += waits_.left_out(at);
    const bool on_host = plan_.is_on_host(task);
    const Exchange* const exchange = plan_.exchange_of(task);
    const bool moves = task.kind == TaskKind::transfer && !on_host;
    if (moves && exchange == nullptr) return write_transfer(at);
    if (waits_.first_part(at.task) != at.task) return;  // its node is there
    const bool computes = task.kind == TaskKind::compute || on_host;
    ChakraNode node = node_of(at, task.device, computes ? NodeType::compute : NodeType::collective);
    if (on_host) {
      tell_host_work(task, node);
    } else if (computes) {
      tell_work(at, node);
    } else {
      tell_collective(exchange != nullptr ? collective_of(*exchange) : collective_of(task), at.step,
                      node);
      if (exchange != nullptr && exchange->fused) {
        node.attributes.push_back(bool_attribute("half_of_all_reduce", true));
      }
    }
    keep(at, write(task.device, std::move(node), timeline_.span(at.step, at.task)));
  }

  void keep(StepTask at, std::uint64_t id) {
    Nodes& nodes = nodes_[at.step * plan_.size() + at.task()];
    if (nodes.count++ == 0) nodes.first = id;
  }

  // Where an op has no products to count, an operation for each element that it passes over.
  void tell_work(StepTask at, ChakraNode& node) const {
    const Task& task = plan_[at.task];
    const Layer& layer = graph_[task.layer];
    const Tile tile = partition(layer, plan_.placement(task.layer).degrees).tile(task.shard);
    const std::vector<Extents> inputs = input_extents(graph_, task.layer, tile);
    PhaseWork work = phase_work({&layer.op, extents(tile), inputs, shard_parameters(layer, tile),
                                 plan_.dtype(), plan_.optimizer()},
                                task.phase);
    for (const Piece& part : plan_.moves(at.task)) {
      if (is_sum(task.phase)) work.bytes += part.bytes;
    }
    const auto flops = static_cast<std::int64_t>(work.direct.flops().value);
    const std::int64_t elements = work.bytes.value / element_bytes(plan_.dtype());
    node.attributes.push_back(int64_attribute("num_ops", std::max(flops, elements)));
    node.attributes.push_back(
        uint64_attribute("tensor_size", static_cast<std::uint64_t>(work.bytes.value)));
  }

  // An operation for each number that passes.
  void tell_host_work(const Task& task, ChakraNode& node) const {
    const std::int64_t bytes = plan_.transfers()[task.detail].bytes.value;
    node.attributes.push_back(int64_attribute("num_ops", bytes / element_bytes(plan_.dtype())));
    node.attributes.push_back(uint64_attribute("tensor_size", static_cast<std::uint64_t>(bytes)));
  }

  /// What devices run together.
  struct Collective {
    CollectiveType type;
    std::size_t number;  // of a step
    Bytes bytes;         // of the whole tensor
    std::int64_t devices;
    std::string group;  // process_group_name()
    SyncAlgorithm algorithm;
  };

  Collective collective_of(const Task& task) const {
    const Group& group = plan_.groups()[task.detail];
    const bool gathers = task.kind == TaskKind::gather || group.work == GroupWork::all_gather;
    const bool scatters = task.kind == TaskKind::reduce || group.work == GroupWork::reduce_scatter;
    const CollectiveType type = gathers    ? CollectiveType::all_gather
                                : scatters ? CollectiveType::reduce_scatter
                                           : CollectiveType::all_reduce;
    return {type,
            task.detail,
            group.bytes,
            static_cast<std::int64_t>(group.tasks.size()),
            process_group_name(group),
            group.algorithm};
  }

  Collective collective_of(const Exchange& exchange) const {
    const CollectiveType type = exchange.work == GroupWork::all_to_all ? CollectiveType::all_to_all
                                : exchange.work == GroupWork::all_gather
                                    ? CollectiveType::all_gather
                                    : CollectiveType::reduce_scatter;
    const auto number = static_cast<std::size_t>(&exchange - plan_.exchanges().data());
    const std::vector<DeviceId>& devices = plan_.group_shapes()[exchange.shape].devices;
    return {type,
            plan_.groups().size() + number,
            exchange.bytes,
            static_cast<std::int64_t>(devices.size()),
            process_group_name(plan_, exchange),
            SyncAlgorithm::ring};
  }

  // An all-gather's and an all-to-all's size is what each gives, the others' the whole tensor.
  void tell_collective(const Collective& of, std::size_t step, ChakraNode& node) const {
    const std::int64_t bytes = of.bytes.value;
    const bool gives =
        of.type == CollectiveType::all_gather || of.type == CollectiveType::all_to_all;
    node.prepared = {0};
    node.attributes.push_back(int64_attribute("comm_type", static_cast<std::int64_t>(of.type)));
    node.attributes.push_back(
        int64_attribute("comm_size", gives ? (bytes + of.devices - 1) / of.devices : bytes));
    node.attributes.push_back(
        int32_attribute("comm_tag", static_cast<std::int32_t>(step * collectives_ + of.number)));
    node.attributes.push_back(string_attribute("pg_name", of.group));
    node.attributes.push_back(string_attribute("algorithm", name(of.algorithm)));
    node.attributes.push_back(int64_attribute("group_bytes", bytes));
    node.attributes.push_back(int64_attribute("group_size", of.devices));
  }

  void write_transfer(StepTask at) {
    const Task& task = plan_[at.task];
    const Transfer& transfer = plan_.transfers()[task.detail];
    for (std::size_t i = transfer.first_piece; i < transfer.last_piece; ++i) {
      const Piece& piece = plan_.pieces(transfer)[i - transfer.first_piece];
      const std::vector<WireMessage> message = {
          int32_attribute("comm_src", static_cast<std::int32_t>(piece.from())),
          int32_attribute("comm_dst", static_cast<std::int32_t>(task.device())),
          int32_attribute("comm_tag", static_cast<std::int32_t>(at.step * pieces_ + i)),
          int64_attribute("comm_size", piece.bytes.value)};
      sends_[at.step * pieces_ + i] = write_end(at, piece.from, NodeType::send, message);
      keep(at, write_end(at, task.device, NodeType::receive, message));
    }
  }

  std::uint64_t write_end(StepTask at, DeviceId device, NodeType type,
                          const std::vector<WireMessage>& message) {
    ChakraNode node = node_of(at, device, type);
    node.attributes.insert(node.attributes.end(), message.begin(), message.end());
    return write(device, std::move(node), timeline_.span(at.step, at.task));
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Plan& plan_;
  const Timeline& timeline_;
  Waits waits_;
  std::size_t pieces_, collectives_;    // of one step
  std::vector<Nodes> nodes_;            // by step and task
  std::vector<std::uint64_t> sends_;    // by step and piece
  std::vector<std::uint64_t> next_id_;  // by device
  ChakraTraces traces_;
};

}  // namespace

ChakraTraces print_chakra(const Graph& graph, const Cluster& cluster, const Plan& plan,
                          const Timeline& timeline) {
  return ChakraWriter(graph, cluster, plan, timeline).run();
}

}  // namespace strata
