#include "sim/train/layer_follower.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "sim/base/error.h"
#include "sim/graph/parameter_rows.h"
#include "sim/graph/regions.h"
#include "sim/train/nudge.h"

namespace strata {
namespace {

using Part = StepRecord::Part;

// Parameters are float32 whatever a device computes in, and an update rounds once or twice.
constexpr double kParameterTolerance = 1e-6;

constexpr double kMissing = std::numeric_limits<double>::infinity();  // whatever is allowed

bool is_of_parameters(TensorRole role) {
  return role == TensorRole::parameters || role == TensorRole::parameter_gradients;
}

// Runs of values that lie together in the whole tensor and in a part of it.
class PartRuns {
 public:
  PartRuns(const Graph& graph, const Plan& plan, TensorKey key, const Part& part)
      : layer_(graph[key.layer]),
        tile_(partition(layer_, plan.placement(key.layer).degrees).tile(part.shard)),
        parameters_(is_of_parameters(key.role)) {
    if (key.role == TensorRole::output) {
      tile_ = partition(layer_, plan.placement(key.layer).degrees).held(part.shard);
    }
    const std::int64_t values =
        parameters_ ? shard_parameters(layer_, tile_).total() : volume(tile_);
    if (values == static_cast<std::int64_t>(part.values.size())) return;
    throw InternalError("layer " + layer_.name + ": a shard showed other values than it has");
  }

  /// run(place in the whole, place in the part, how many).
  template <class Run>
  void each(const Run& run) const {
    parameters_ ? each_row(run) : each_line(run);
  }

 private:
  template <class Run>
  void each_row(const Run& run) const {
    ParameterRows(layer_, tile_).each(run);
  }
  template <class Run>
  void each_line(const Run& run) const {
    const Extents& whole = layer_.output;
    const auto [n, c, d, h, w] = tile_.values;
    std::int64_t at = 0;
    for (std::int64_t i = n.begin; i < n.end; ++i) {
      for (std::int64_t j = c.begin; j < c.end; ++j) {
        for (std::int64_t k = d.begin; k < d.end; ++k) {
          for (std::int64_t l = h.begin; l < h.end; ++l, at += w.size()) {
            const std::int64_t line =
                ((i * whole[Dim::c] + j) * whole[Dim::d] + k) * whole[Dim::h] + l;
            run(line * whole[Dim::w] + w.begin, at, w.size());
          }
        }
      }
    }
  }

  const Layer& layer_;
  Tile tile_;
  bool parameters_;
};

// Of the dims that the parameters carry and of the terms: shards with the same ones are replicas.
Tile parameters_in(const Layer& layer, const Tile& tile) {
  Tile held({}, tile.terms);
  for (Dim dim : kDims) {
    if (layer.parameters.loops[dim]) held[dim] = tile[dim];
  }
  return held;
}

// Of the gradients of an output, which all shards of its sums have.
bool seen_once(const Tile& tile) {
  return tile.terms.begin == 0;
}

double square(double x) {
  return x * x;
}

double length_of(std::span<const float> values) {
  double squares = 0;
  for (float x : values) squares += square(x);
  return std::sqrt(squares);
}

double distance_of(std::span<const float> a, std::span<const float> b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += square(static_cast<double>(a[i]) - static_cast<double>(b[i]));
  }
  return std::sqrt(squares);
}

double distance_of(const PartRuns& runs, const Part& part, std::span<const float> whole) {
  double squares = 0;
  runs.each([&](std::int64_t at, std::int64_t from, std::int64_t count) {
    const float* const a = whole.data() + at;
    const float* const b = part.values.data() + from;
    for (std::int64_t i = 0; i < count; ++i) {
      squares += square(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    }
  });
  return std::sqrt(squares);
}

void go_on_from(const Graph& graph, const Plan& plan, TensorKey key, const StepRecord& record,
                std::span<float> whole) {
  if (const auto kept = record.whole(key); !kept.empty()) std::ranges::copy(kept, whole.begin());
  for (const Part& part : record.parts(key)) {
    PartRuns(graph, plan, key, part)
        .each([&](std::int64_t at, std::int64_t from, std::int64_t count) {
          std::copy_n(part.values.data() + from, count, whole.data() + at);
        });
  }
}

}  // namespace

bool Follower::see(const TensorKey& key, std::uint32_t, std::span<float> values) {
  compare(key, values);
  if (key.role == TensorRole::parameters) compare_replicas(key.layer);
  go_on_from(graph_, plan_, key, record_, values);
  return true;
}

void Follower::compare(TensorKey key, std::span<const float> values) {
  layers_.insert(key.layer);
  TensorDifference found;
  found.layer = graph_[key.layer].name;
  found.what = name(key.role);
  if (plan_.rounds() > 1 && !is_of_parameters(key.role)) {
    found.what += ", round " + std::to_string(key.round);
  }
  found.step = step_;
  found.allowed =
      key.role == TensorRole::parameters ? kParameterTolerance : layer_tolerance(plan_.dtype());
  const Partition cut = partition(graph_[key.layer], plan_.placement(key.layer).degrees);
  std::set<Tile> held;  // replicas hold the same ones
  std::set<Box> boxes;  // so do copies
  std::size_t covered = 0;
  double squares = 0, farthest = 0;
  if (const auto whole = record_.whole(key); whole.size() == values.size()) {
    covered = whole.size();
    squares = square(length_of(whole));
    farthest = distance_of(values, whole);
  }
  for (const Part& part : record_.parts(key)) {
    const double distance = distance_of(PartRuns(graph_, plan_, key, part), part, values);
    const bool first =
        is_of_parameters(key.role)
            ? held.insert(parameters_in(graph_[key.layer], cut.tile(part.shard))).second
        : key.role == TensorRole::output
            ? boxes.insert(cut.held(part.shard)).second
            : seen_once(cut.tile(part.shard)) && boxes.insert(cut.tile(part.shard)).second;
    if (first) {
      covered += part.values.size();
      squares += square(length_of(part.values));
    }
    if (distance <= farthest) continue;  // what is no number is taken
    farthest = distance, found.shard = part.shard;
    if (std::isnan(distance)) break;
  }
  const double length = std::max(length_of(values), std::sqrt(squares));
  found.value = farthest == 0 ? 0 : farthest / length;
  if (covered < values.size() && !std::isnan(farthest)) found.value = kMissing;
  if (!found.within()) {
    doubts_.push_back({key, found, length, {values.begin(), values.end()}});
  } else if (found.is_nearer_than(largest_)) {
    largest_ = found;
  }
}

// They were made from the same sums in the same order.
void Follower::compare_replicas(LayerId layer) {
  const TensorKey key{TensorRole::parameters, layer};
  const Partition cut = partition(graph_[layer], plan_.placement(layer).degrees);
  std::map<Tile, const Part*> first;
  for (const Part& part : record_.parts(key)) {
    const Part& other =
        *first.try_emplace(parameters_in(graph_[layer], cut.tile(part.shard)), &part).first->second;
    const double distance = distance_of(part.values, other.values);
    if (distance == 0) continue;
    const double length = length_of(other.values);
    const TensorDifference found{distance / length,      0,     graph_[layer].name,
                                 "replicas' parameters", step_, part.shard};
    doubts_.push_back({key, found, length, {}});
    return;
  }
}

void NudgedFollower::look_at(std::span<const Doubt> doubts) {
  doubts_.clear(), moved_.clear();
  for (const Doubt& doubt : doubts) {
    if (!doubt.whole.empty()) doubts_[doubt.key] = &doubt;
  }
}

bool NudgedFollower::see(const TensorKey& key, std::uint32_t, std::span<float> values) {
  const auto at = doubts_.find(key);
  if (at != doubts_.end()) moved_[key] = distance_of(values, at->second->whole);
  go_on_from(graph_, plan_, key, record_, values);
  if (key.role != TensorRole::parameters) {
    nudge(values, {plan_.dtype(), 1}, graph_[key.layer].name + std::string(name(key.role)));
  }
  return true;
}

// An update has no sums that cancel; and what this device updates from is not what the plan's
// shards updated from, so that it may be off by the whole update.
double NudgedFollower::moved(const Doubt& doubt) const {
  if (doubt.key.role == TensorRole::parameters) return 0;
  const auto at = moved_.find(doubt.key);
  return at == moved_.end() || doubt.length == 0 ? 0 : at->second / doubt.length;
}

}  // namespace strata
