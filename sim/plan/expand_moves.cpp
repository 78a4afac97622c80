// Boxes that move between devices, and inputs that arrive so.

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/plan/expansion.h"
#include "sim/plan/slot_exchanges.h"

namespace strata {
namespace {

// The boxes that cross devices, by receiver and then by sender.
std::vector<const NeededBox*> crossing(std::span<const NeededBox> boxes, bool forward) {
  std::vector<const NeededBox*> result;
  for (const NeededBox& needed : boxes) {
    if (!needed.local()) result.push_back(&needed);
  }
  const auto order = [forward](const NeededBox* b) {
    return forward ? std::pair(b->consumer_shard, b->producer_shard)
                   : std::pair(b->producer_shard, b->consumer_shard);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const NeededBox* a, const NeededBox* b) { return order(a) < order(b); });
  return result;
}

// Of shards, those for which others stand included.
std::size_t count_pairs(const Expansion& to, const std::vector<const NeededBox*>& boxes,
                        bool forward) {
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const NeededBox& b = *boxes[i];
    const bool same_pair = i > 0 && b.consumer_shard == boxes[i - 1]->consumer_shard &&
                           b.producer_shard == boxes[i - 1]->producer_shard;
    if (same_pair) continue;
    const DeviceId receiver = forward ? b.reader : b.owner;
    pairs += to.classes ? b.copies * to.classes->members(receiver) : 1;
  }
  return static_cast<std::size_t>(pairs);
}

// What arrives of a shard's output, or of its gradient, in one transfer.
BufferId receive(Expansion& to, BufferKind kind, LayerId layer, std::size_t shard,
                 std::vector<Piece>& pieces, std::uint32_t copies) {
  std::vector<Box> boxes;
  Bytes bytes;
  for (const Piece& piece : pieces) {
    bytes += piece.bytes;
    if (!moves_values(piece)) boxes.push_back(to.builder.so_far().box(piece));
  }
  const BufferId received = boxes.empty() ? add_values(to, kind, layer, shard, 0, bytes)
                                          : add_tensor(to, kind, layer, shard, boxes, 0, copies);
  for (std::uint32_t k = 0; k < pieces.size(); ++k) {
    pieces[k].target = {received, boxes.empty() ? 0 : k};
  }
  return received;
}

std::shared_ptr<const ClassBoxes> boxes_of_edge(Expansion& to, LayerId layer, std::size_t input) {
  auto& edges = to.by_rounds.edges[layer()];
  edges.resize(to.graph[layer].inputs.size());
  if (edges[input] == nullptr) {
    const LayerId producer = to.graph[layer].inputs[input];
    edges[input] = to.memo.boxes(layer, input, to.strategy[producer], to.strategy[layer],
                                 to.step[producer].whole_gradient, to.classes.get());
  }
  return edges[input];
}

/// Which exchange each receiver's transfers are a part of, of one set of moves. Devices without
/// copy engines copy for themselves.
class ExchangesOfMoves {
 public:
  ExchangesOfMoves(Expansion& to, const Moves& moves) : to_(to), moves_(moves) {
    if (moves.groups) numbers_.resize(moves.groups->groups.size(), kNoExchange);
  }

  std::uint32_t of(DeviceId receiver) {
    if (numbers_.empty()) return kNoExchange;
    const auto group = moves_.groups->of.find(receiver);
    if (group == moves_.groups->of.end()) return kNoExchange;
    std::uint32_t& number = numbers_[group->second];
    if (number != kNoExchange) return number;
    const ExchangeGroups::Group& all = moves_.groups->groups[group->second];
    const auto copies = [this](DeviceId device) { return to_.cluster[device].copy_engine; };
    if (!std::all_of(all.devices.begin(), all.devices.end(), copies)) return kNoExchange;
    const GroupExchange found = exchange_of(to_, moves_, all);
    const std::uint32_t shape =
        group_shape(to_, SyncAlgorithm::ring, all.devices, found.bytes, found.work, {}, found.sent);
    return number = to_.builder.add_exchange(found.work, shape, found.bytes, found.moved);
  }

 private:
  Expansion& to_;
  const Moves& moves_;
  std::vector<std::uint32_t> numbers_;  // by group
};

// What the shards read of those that made it.
Edge read_of_producer(Expansion& to, const Action& action, const Read& read) {
  const LayerId layer = read.layer;
  const std::uint32_t input = read.input;
  Round& round = to.round_of(action);
  const LayerId producer = to.graph[layer].inputs[input];
  Edge edge;
  if (is_input(to.graph[producer].op)) {
    place_inputs(to, round, layer, input, edge);
    return edge;
  }
  edge.boxes = boxes_of_edge(to, layer, input);
  edge.returns_otherwise =
      to.classes != nullptr || to.step[producer].repeats || to.step[layer].repeats;
  place_inputs(to, round, layer, input, edge);
  const auto lies = [&](const NeededBox& b) {
    return View{round.buffers[producer()].output[to.shards.slot(producer, b.producer_shard)]};
  };
  const auto gathered = [&](const NeededBox& b) {
    return holding(
        to, round.buffers[layer()].inputs[input][to.shards.slot(layer, b.consumer_shard)], b.box);
  };
  const bool crosses = std::any_of(edge.read().begin(), edge.read().end(),
                                   [](const NeededBox& b) { return !b.local(); });
  // What is there all the time is sent when it is wanted.
  const std::vector<TaskId> made = crosses && read.when_wanted
                                       ? about_to_go_back(to, round, action.again_for, producer)
                                       : round.tasks[producer()].output();
  Moves moves{layer,    input, Phase::forward, edge.read(), true,
              producer, layer, made,           lies,        gathered};
  if (crosses) moves.groups = groups_of_edge(to, layer, input, false);
  edge.arrivals = move_boxes(to, moves).tasks;
  return edge;
}

}  // namespace

std::span<const NeededBox> Edge::read() const {
  return boxes ? std::span<const NeededBox>(boxes->read) : std::span<const NeededBox>();
}

std::span<const NeededBox> Edge::read_by(std::size_t consumer_shard) const {
  const std::span<const NeededBox> all = read();
  const auto less = [](const NeededBox& b, std::size_t s) { return b.consumer_shard < s; };
  const auto greater = [](std::size_t s, const NeededBox& b) { return s < b.consumer_shard; };
  const auto first = std::lower_bound(all.begin(), all.end(), consumer_shard, less);
  return {first, std::upper_bound(first, all.end(), consumer_shard, greater)};
}

Arrivals move_boxes(Expansion& to, const Moves& moves) {
  const bool forward = moves.forward;
  Arrivals arrivals{std::vector<std::vector<TaskId>>(to.shards.of(moves.to).size()),
                    std::vector<View>(moves.target ? 0 : moves.boxes.size())};
  const std::vector<const NeededBox*> boxes = crossing(moves.boxes, forward);
  // However many have tasks: a class that splits must not change the form.
  const bool by_receiver = count_pairs(to, boxes, forward) > to.options.max_flows_per_edge;
  // Where every receiver hears from very many, one join of all senders stands for them.
  TaskId joined;
  if (by_receiver) {
    to.builder.join_transfers();
    joined = to.builder.add({TaskKind::join, Phase::forward, moves.layer, {}, 0, 0, Stream::links},
                            moves.made_by);
  }

  ExchangesOfMoves exchanges(to, moves);
  const bool loads =
      !to.graph[moves.from].routing.load.empty() || !to.graph[moves.to].routing.load.empty();
  const auto receiver = [&](const NeededBox& b) {
    return forward ? b.consumer_shard : b.producer_shard;
  };
  const auto sender = [&](const NeededBox& b) {
    return forward ? b.producer_shard : b.consumer_shard;
  };
  for (std::size_t i = 0; i < boxes.size();) {
    const NeededBox& first = *boxes[i];
    const std::size_t first_box = i;
    const std::uint32_t copies = by_receiver ? 1 : first.copies;
    std::vector<Piece> pieces;
    for (; i < boxes.size() && receiver(*boxes[i]) == receiver(first) &&
           (by_receiver || sender(*boxes[i]) == sender(first));
         ++i) {
      const NeededBox& b = *boxes[i];
      const double load = loads ? moved_load(to, moves, b) : 1;
      const std::int64_t elements = volume(b.box);
      const Bytes bytes =
          b.copies / copies *
          to.bytes_of(load == 1 ? elements : std::llround(load * static_cast<double>(elements)));
      const DeviceId from = forward ? b.owner : b.reader;
      if (by_receiver && !pieces.empty() && pieces.back().from == from) {
        pieces.back().bytes += bytes;
        continue;
      }
      const BoxId box = by_receiver ? BoxId() : to.builder.number_of(b.box);
      pieces.push_back({from, box, bytes, moves.source(b)});
      if (moves.target) pieces.back().target = moves.target(b);
    }
    if (!moves.target) {
      const BufferId received = receive(to, moves.kind, moves.to, receiver(first), pieces, copies);
      for (std::size_t k = first_box; k < i; ++k) {
        const auto box = static_cast<std::uint32_t>(by_receiver ? 0 : k - first_box);
        arrivals.views[static_cast<std::size_t>(boxes[k] - moves.boxes.data())] = {received, box};
      }
    }
    const DeviceId device = forward ? first.reader : first.owner;
    const Task task{TaskKind::transfer,      moves.phase, moves.layer, device, receiver(first), 0,
                    to.moving_stream(device)};
    const TaskId made =
        by_receiver ? joined : moves.made_by[to.shards.slot(moves.from, sender(first))];
    arrivals.tasks[to.shards.slot(moves.to, receiver(first))].push_back(
        to.builder.add_transfer(task, static_cast<std::uint32_t>(moves.input), pieces,
                                std::span(&made, 1), copies, exchanges.of(device)));
  }
  return arrivals;
}

std::shared_ptr<const ClassBoxes> boxes_of_sums(Expansion& to, LayerId layer) {
  auto& sums = to.by_rounds.sums[layer()];
  if (sums == nullptr) sums = to.memo.sums(layer, to.strategy[layer], to.classes.get());
  return sums;
}

std::shared_ptr<const ExchangeGroups> groups_of_edge(Expansion& to, LayerId layer,
                                                     std::size_t input, bool returned) {
  if (to.options.exchanges == Exchanges::pairwise) return nullptr;
  const LayerId producer = to.graph[layer].inputs[input];
  return to.memo.exchanges(layer, input, to.strategy[producer], to.strategy[layer], returned);
}

std::shared_ptr<const ExchangeGroups> groups_of_sums(Expansion& to, LayerId layer) {
  if (to.options.exchanges == Exchanges::pairwise) return nullptr;
  return to.memo.exchanges_of_sums(layer, to.strategy[layer]);
}

std::vector<TaskId> about_to_go_back(Expansion& to, const Round& round, LayerId layer,
                                     LayerId producer) {
  std::vector<TaskId> ready;
  for (const std::uint32_t shard : to.shards.of(producer)) {
    std::vector<TaskId> after = {round.tasks[producer()].output()[to.shards.slot(producer, shard)]};
    const auto beside = to.shards.slot_on(layer, to.shards.device(producer, shard));
    if (beside) {
      const std::vector<TaskId>& delivered = round.delivered[layer()][*beside];
      after.insert(after.end(), delivered.begin(), delivered.end());
    }
    ready.push_back(
        to.builder.add({TaskKind::join, Phase::forward, layer, {}, 0, 0, Stream::links}, after));
  }
  return ready;
}

void expand(Expansion& to, const Action& action, const Read& read) {
  Round& round = to.round_of(action);
  LayerBuffers& own = round.buffers[read.layer()];
  std::vector<Edge>& edges = round.edges[read.layer()];
  switch (read.from) {
    case ReadFrom::another_reading:
      own.inputs.push_back(round.buffers[read.of.layer()].inputs[read.of.input]);
      edges.push_back(Edge(round.edges[read.of.layer()][read.of.input]));
      return;
    case ReadFrom::before:
      own.inputs.push_back(own.data[read.input]);
      edges.push_back(std::move(round.edges_before[read.layer()][read.input]));
      return;
    case ReadFrom::producer:
      edges.push_back(read_of_producer(to, action, read));
      return;
  }
}

// A network's data, and what another stage sent, stay where they are.
void expand(Expansion& to, const Action& action, const Forget& forget) {
  Round& round = to.round_of(action);
  LayerBuffers& own = round.buffers[forget.layer()];
  if (!forget.inputs_alone) {
    LayerTasks& tasks = round.tasks[forget.layer()];
    tasks.forward_statistics.clear();
    tasks.forward.clear();
    tasks.forward_sum.clear();
    own.output.clear();
    own.partial.clear();
    own.saved.clear();
    own.forward_statistics.clear();
  }
  round.edges_before[forget.layer()] = std::exchange(round.edges[forget.layer()], {});
  own.data = std::exchange(own.inputs, {});
}

}  // namespace strata
