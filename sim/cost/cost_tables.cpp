#include "sim/cost/cost_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/cost/layer_table.h"
#include "sim/cost/transfer_table.h"
#include "sim/graph/regions.h"
#include "sim/step/redistribution.h"

namespace strata {

double CostTables::seconds(std::span<const std::uint32_t> choices) const {
  double sum = 0;
  for (std::size_t v = 0; v < variables.size(); ++v) sum += (*variables[v])[choices[v]];
  for (const Edge& edge : edges) sum += edge.table->at(choices[edge.from], choices[edge.to]);
  return sum;
}

std::size_t CostTables::bytes() const {
  std::set<const void*> seen;
  std::size_t entries = 0;
  for (const Vector& variable : variables) {
    if (seen.insert(variable.get()).second) entries += variable->size();
  }
  for (const Edge& edge : edges) {
    if (seen.insert(edge.table.get()).second) entries += edge.table->seconds.size();
  }
  return entries * sizeof(double);
}

namespace {

// An edge between two variables, and the first one that has the same table.
struct PlannedEdge {
  LayerId consumer;
  std::size_t input;
  std::uint32_t from, to;
  bool returns;
  std::size_t first;
};

bool in_powers_of_two(const SearchSpace& space, const GroupNetwork& network) {
  const auto power = [](std::int64_t n) { return (n & (n - 1)) == 0; };
  if (network.groups() == 1 || !power(static_cast<std::int64_t>(network.group_size())))
    return false;
  for (std::size_t v = 0; v < space.size(); ++v) {
    for (const Cut& cut : *space[v].cuts) {
      for (Dim dim : kDims) {
        if (!power(cut.degrees[dim]) || !power(cut.strides[dim])) return false;
      }
      if (!power(cut.degrees.r)) return false;
    }
  }
  return true;
}

std::vector<KernelTraits> kernels_of(std::span<const CostModel* const> models) {
  std::vector<KernelTraits> kernels;
  kernels.reserve(models.size());
  for (const CostModel* model : models) kernels.push_back(model->kernels());
  return kernels;
}

// Which groups of which network a table of t_X looks at; see TransferTable.
struct TableView {
  GroupNetwork network;
  std::vector<std::uint32_t> groups;
  std::size_t span;
};

class TableBuilder {
 public:
  TableBuilder(const Graph& graph, const Cluster& cluster, std::span<const CostModel* const> models,
               SyncAlgorithm sync, const ComputeSettings& settings, const SearchSpace& space,
               const CostTableOptions& options)
      : graph_(graph),
        space_(space),
        dtypes_(settings.dtypes),
        options_(options),
        devices_(cluster.device_count()),
        network_(cluster, options.cancelled),
        detail_(detail_for(options.detail)),
        views_(views()),
        counts_(count_actions(graph, keeping_most(kernels_of(models)), options.segments)),
        layers_(graph, cluster, models, sync, settings, options.rounds, counts_) {}

  CostTables build() {
    plan_layers();
    plan_edges();
    fill();
    CostTables tables;
    tables.detail = detail_;
    add_variables(tables);
    tables.quantum = quantum(tables);
    round(tables);
    return tables;
  }

 private:
  // What is looked at: where a sample is all there is, it is exact.
  TableDetail detail_for(TableDetail wanted) const {
    if (wanted == TableDetail::bounds && network_.group_size() > 1) return wanted;
    const bool all = network_.sampled_groups().size() == network_.groups();
    return all || wanted == TableDetail::exact ? TableDetail::exact : TableDetail::sampled;
  }

  // The network as the tables see it: the whole, or what bounds it from below.
  std::vector<TableView> views() const {
    if (detail_ == TableDetail::exact) return {{network_, network_.all_groups(), 1}};
    if (detail_ == TableDetail::sampled) return {{network_, network_.sampled_groups(), 1}};
    std::vector<TableView> views;
    const auto add = [&](GroupNetwork bound, std::size_t span) {
      std::vector<std::uint32_t> groups = bound.sampled_groups();
      views.push_back({std::move(bound), std::move(groups), span});
    };
    add(network_.between_devices(), 1);
    if (in_powers_of_two(space_, network_)) add(network_.between_groups(), network_.group_size());
    return views;
  }

  // Layers that cost the same share what the first of them gets.
  void plan_layers() {
    first_layer_.assign(graph_.size(), graph_.size());
    for (std::size_t v = 0; v < space_.size(); ++v) {
      for (LayerId layer : space_[v].layers) {
        const Cuts* const cuts = space_.cuts_of(layer).get();
        const auto same =
            std::find_if(distinct_layers_.begin(), distinct_layers_.end(), [&](const auto& known) {
              return known.second == cuts && layers_.equal(known.first, layer);
            });
        first_layer_[layer()] = static_cast<std::size_t>(same - distinct_layers_.begin());
        if (same == distinct_layers_.end()) distinct_layers_.emplace_back(layer, cuts);
      }
    }
  }

  void plan_edges() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const LayerId consumer(i);
      const auto to = space_.variable_of(consumer);
      if (!to) continue;
      for (std::size_t input = 0; input < graph_[consumer].inputs.size(); ++input) {
        const LayerId producer = graph_[consumer].inputs[input];
        const auto from = space_.variable_of(producer);
        if (!from || *from == *to || !counts_[i].reads[input]) continue;
        edges_.push_back({consumer, input, *from, *to, counts_[i].returns[input], edges_.size()});
        share(edges_.back());
      }
    }
  }

  void share(PlannedEdge& edge) {
    const auto same = std::find_if(distinct_edges_.begin(), distinct_edges_.end(),
                                   [&](std::size_t k) { return equal(edges_[k], edge); });
    if (same == distinct_edges_.end()) {
      distinct_edges_.push_back(edges_.size() - 1);
    } else {
      edge.first = *same;
    }
  }

  LayerId producer(const PlannedEdge& edge) const {
    return graph_[edge.consumer].inputs[edge.input];
  }

  bool equal(const PlannedEdge& a, const PlannedEdge& b) const {
    const Layer &x = graph_[a.consumer], &y = graph_[b.consumer];
    const LayerId from = producer(a), other = producer(b);
    return a.returns == b.returns && x.output == y.output &&
           graph_[from].output == graph_[other].output &&
           space_.cuts_of(from) == space_.cuts_of(other) &&
           space_.cuts_of(a.consumer) == space_.cuts_of(b.consumer) && x.op == y.op &&
           access_map(graph_, a.consumer, a.input) == access_map(graph_, b.consumer, b.input);
  }

  void fill() {
    layer_seconds_.resize(distinct_layers_.size());
    transfers_.resize(distinct_edges_.size());
    scratch_.resize(options_.threads > 0 ? options_.threads : core_count());
    for (std::size_t edge : distinct_edges_) add_edge_table(edges_[edge]);
    const std::size_t layers = distinct_layers_.size();
    parallel_for(layers + transfers_.size(), threads(), [&](std::size_t piece, unsigned worker) {
      throw_if_cancelled(options_.cancelled);
      if (piece >= layers) return prepare(piece - layers, worker);
      const auto& [layer, cuts] = distinct_layers_[piece];
      layer_seconds_[piece] = layers_.seconds(layer, *cuts, options_.cancelled);
    });
    fill_large();
  }

  // A few thousand entries on a few devices are done before a second thread has started.
  unsigned threads() const {
    std::size_t entries = 0;
    for (const auto& table : edge_tables_) entries += entries_of(*table);
    return entries * devices_ <= 16 * kFewEntries ? 1 : options_.threads;
  }

  void add_edge_table(const PlannedEdge& edge) {
    auto table = std::make_shared<CostTable>();
    table->rows = static_cast<std::uint32_t>(space_[edge.from].cuts->size());
    table->columns = static_cast<std::uint32_t>(space_[edge.to].cuts->size());
    edge_tables_.push_back(std::move(table));
  }

  static std::size_t entries_of(const CostTable& table) {
    return std::size_t{table.rows} * table.columns;
  }

  // By pieces: all tables together are gigabytes, and their first touch takes many seconds, in
  // which the work can be called off.
  void allocate(CostTable& table) const {
    const std::size_t entries = entries_of(table);
    table.seconds.reserve(entries);
    while (table.seconds.size() < entries) {
      throw_if_cancelled(options_.cancelled);
      table.seconds.resize(std::min(table.seconds.size() + kTouchedAtOnce, entries));
    }
  }

  // A small table is filled while what it needs is warm.
  void prepare(std::size_t k, unsigned worker) {
    const PlannedEdge& edge = edges_[distinct_edges_[k]];
    allocate(*edge_tables_[k]);
    const bool small = entries_of(*edge_tables_[k]) <= kFewEntries;
    for (const TableView& view : views_) {
      auto transfer = std::make_unique<TransferTable>(
          view.network, view.groups, view.span, graph_, edge.consumer, edge.input,
          *space_.cuts_of(producer(edge)), *space_.cuts_of(edge.consumer),
          static_cast<double>(element_bytes(dtypes_.values)), edge.returns);
      if (small) {
        fill(k, *transfer, 0, worker, transfer->columns());
      } else {
        transfers_[k].push_back(std::move(transfer));
      }
    }
  }

  // Large ones by pieces.
  void fill_large() {
    std::vector<std::pair<std::size_t, std::size_t>> pieces;  // a table, the first of its columns
    for (std::size_t k = 0; k < transfers_.size(); ++k) {
      const std::size_t columns = transfers_[k].empty() ? 0 : edge_tables_[k]->columns;
      for (std::size_t c = 0; c < columns; c += kColumns) pieces.emplace_back(k, c);
    }
    parallel_for(pieces.size(), options_.threads, [&](std::size_t piece, unsigned worker) {
      throw_if_cancelled(options_.cancelled);
      const auto [k, first] = pieces[piece];
      for (const auto& view : transfers_[k]) fill(k, *view, first, worker, kColumns);
    });
    if (options_.rounds > 1) repeat_transfers();
  }

  // Each round moves all of it.
  void repeat_transfers() {
    parallel_for(edge_tables_.size(), options_.threads, [&](std::size_t k, unsigned) {
      throw_if_cancelled(options_.cancelled);
      for (double& seconds : edge_tables_[k]->seconds) seconds *= options_.rounds;
    });
  }

  void fill(std::size_t k, const TransferTable& transfer, std::size_t first, unsigned worker,
            std::size_t columns) {
    const std::size_t last = std::min(first + columns, transfer.columns());
    transfer.fill(first, last, scratch_[worker], edge_tables_[k]->seconds.data());
  }

  // Variables whose layers are the same share their seconds.
  void add_variables(CostTables& tables) {
    std::map<std::vector<std::size_t>, std::shared_ptr<std::vector<double>>> known;
    for (std::size_t v = 0; v < space_.size(); ++v) {
      std::vector<std::size_t> layers;
      for (LayerId layer : space_[v].layers) layers.push_back(first_layer_[layer()]);
      auto& seconds = known[layers];
      if (!seconds) {
        seconds = std::make_shared<std::vector<double>>(space_[v].cuts->size());
        for (std::size_t layer : layers) {
          for (std::size_t i = 0; i < seconds->size(); ++i) {
            (*seconds)[i] += layer_seconds_[layer][i];
          }
        }
        variable_seconds_.push_back(seconds);
      }
      tables.variables.push_back(seconds);
    }
    std::map<std::size_t, std::size_t> table_of;
    for (std::size_t k = 0; k < distinct_edges_.size(); ++k) table_of[distinct_edges_[k]] = k;
    for (const PlannedEdge& edge : edges_) {
      tables.edges.push_back({edge.from, edge.to, edge_tables_[table_of.at(edge.first)]});
    }
  }

  // What some strategy costs: every variable's first choice.
  static double some_strategy(const CostTables& tables) {
    double sum = 0;
    for (const auto& variable : tables.variables) sum += variable->front();
    for (const auto& edge : tables.edges) sum += edge.table->seconds.front();
    return sum;
  }

  // 2^-52 of a power of two above every sum that is less than kManyTimes what some strategy costs:
  // a link a million times slower than the others must not blur the rest. Larger sums round, which
  // keeps them large.
  double quantum(const CostTables& tables) const {
    const auto largest = [](const std::vector<double>& values) {
      return *std::max_element(values.begin(), values.end());
    };
    std::map<const void*, double> most;
    double sum = std::numeric_limits<double>::min();
    const auto add = [&](const void* key, const std::vector<double>& values) {
      throw_if_cancelled(options_.cancelled);
      const auto [at, fresh] = most.try_emplace(key, 0);
      if (fresh) at->second = largest(values);
      sum += at->second;
    };
    for (const auto& variable : tables.variables) add(variable.get(), *variable);
    for (const auto& edge : tables.edges) add(edge.table.get(), edge.table->seconds);
    const double some = some_strategy(tables);
    if (some > 0) sum = std::min(sum, kManyTimes * some);
    return std::ldexp(1, std::ilogb(sum) + 1 - 52);
  }

  void round(const CostTables& tables) {
    const double per_quantum = 1 / tables.quantum;
    const auto round_all = [&](std::vector<double>& values) {
      throw_if_cancelled(options_.cancelled);
      for (double& value : values) value = std::nearbyint(value * per_quantum) * tables.quantum;
    };
    for (const auto& variable : variable_seconds_) round_all(*variable);
    const bool few = tables.bytes() < kFewBytes;
    parallel_for(edge_tables_.size(), few ? 1 : options_.threads,
                 [&](std::size_t k, unsigned) { round_all(edge_tables_[k]->seconds); });
  }

  static constexpr std::size_t kColumns = 16;  ///< that one piece of work fills
  static constexpr std::size_t kFewEntries = 4096;
  static constexpr std::size_t kTouchedAtOnce = std::size_t{1} << 20;
  static constexpr double kManyTimes = 256;
  static constexpr std::size_t kFewBytes = std::size_t{1} << 20;

  const Graph& graph_;
  const SearchSpace& space_;
  DTypes dtypes_;
  const CostTableOptions& options_;
  std::size_t devices_;
  const GroupNetwork network_;
  const TableDetail detail_;
  const std::vector<TableView> views_;
  const std::vector<LayerCounts> counts_;  ///< by layer
  const LayerTable layers_;
  std::vector<std::pair<LayerId, const Cuts*>> distinct_layers_;
  std::vector<std::size_t> first_layer_;  ///< by layer: the distinct one
  std::vector<std::vector<double>> layer_seconds_;
  std::vector<PlannedEdge> edges_;
  std::vector<std::size_t> distinct_edges_;
  std::vector<std::vector<std::unique_ptr<TransferTable>>> transfers_;  ///< and by view
  std::vector<TransferTable::Scratch> scratch_;                         ///< by worker
  std::vector<std::shared_ptr<CostTable>> edge_tables_;                 ///< by distinct edge
  std::vector<std::shared_ptr<std::vector<double>>> variable_seconds_;
};

}  // namespace

CostTables build_cost_tables(const Graph& graph, const Cluster& cluster,
                             std::span<const CostModel* const> models, SyncAlgorithm sync,
                             const ComputeSettings& settings, const SearchSpace& space,
                             const CostTableOptions& options) {
  return TableBuilder(graph, cluster, models, sync, settings, space, options).build();
}

}  // namespace strata
