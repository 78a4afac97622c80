#include "sim/solver/restriction.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace strata {
namespace {

using TablePointer = std::shared_ptr<const CostTable>;

/// Equal sets of choices under one number, so that equal cuts of a shared table are found.
class Restrictor {
 public:
  Restrictor(const CostTables& tables, const std::vector<Choices>& kept)
      : tables_(tables), kept_(kept) {
    for (const Choices& choices : kept) {
      set_of_.push_back(sets_.emplace(choices, sets_.size()).first->second);
    }
  }

  CostTables::Vector vector(std::uint32_t v) {
    const CostTables::Vector& whole = tables_.variables[v];
    if (kept_[v].size() == whole->size()) return whole;
    CostTables::Vector& cut = vectors_[{whole.get(), set_of_[v]}];
    if (!cut) {
      std::vector<double> seconds;
      seconds.reserve(kept_[v].size());
      for (const std::uint32_t c : kept_[v]) seconds.push_back((*whole)[c]);
      cut = std::make_shared<const std::vector<double>>(std::move(seconds));
    }
    return cut;
  }

  CostTables::Edge edge(const CostTables::Edge& whole) {
    const CostTable& table = *whole.table;
    const Choices& rows = kept_[whole.from];
    const Choices& columns = kept_[whole.to];
    if (rows.size() == table.rows && columns.size() == table.columns) return whole;
    TablePointer& cut = cuts_[{&table, set_of_[whole.from], set_of_[whole.to]}];
    if (!cut) cut = cut_table(table, rows, columns);
    return {whole.from, whole.to, cut};
  }

 private:
  static TablePointer cut_table(const CostTable& table, const Choices& rows,
                                const Choices& columns) {
    CostTable cut{
        static_cast<std::uint32_t>(rows.size()), static_cast<std::uint32_t>(columns.size()), {}};
    cut.seconds.reserve(rows.size() * columns.size());
    for (const std::uint32_t r : rows) {
      for (const std::uint32_t c : columns) cut.seconds.push_back(table.at(r, c));
    }
    return std::make_shared<const CostTable>(std::move(cut));
  }

  const CostTables& tables_;
  const std::vector<Choices>& kept_;
  std::map<Choices, std::size_t> sets_;
  std::vector<std::size_t> set_of_;
  std::map<std::pair<const void*, std::size_t>, CostTables::Vector> vectors_;
  std::map<std::tuple<const void*, std::size_t, std::size_t>, TablePointer> cuts_;
};

CostTable transposed(const CostTable& table) {
  CostTable result{table.columns, table.rows, std::vector<double>(table.seconds.size())};
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (std::size_t c = 0; c < table.columns; ++c) {
      result.seconds[c * table.rows + r] = table.at(r, c);
    }
  }
  return result;
}

/// Adds up tables over the same two variables; equal sums are made once.
class Merger {
 public:
  TablePointer sum(std::vector<std::pair<TablePointer, bool>> parts) {
    std::sort(parts.begin(), parts.end());
    if (parts.size() == 1 && !parts[0].second) return parts[0].first;
    TablePointer& known = sums_[parts];
    if (!known) known = added(parts);
    return known;
  }

 private:
  static TablePointer added(const std::vector<std::pair<TablePointer, bool>>& parts) {
    CostTable total;
    for (const auto& [table, turned] : parts) {
      CostTable part = turned ? transposed(*table) : *table;
      if (total.seconds.empty()) {
        total = std::move(part);
        continue;
      }
      for (std::size_t i = 0; i < part.seconds.size(); ++i) total.seconds[i] += part.seconds[i];
    }
    return std::make_shared<const CostTable>(std::move(total));
  }

  std::map<std::vector<std::pair<TablePointer, bool>>, TablePointer> sums_;
};

}  // namespace

Choices renamed(const std::vector<Choices>& kept, const Choices& choices) {
  Choices result(choices.size());
  for (std::size_t v = 0; v < choices.size(); ++v) result[v] = kept[v][choices[v]];
  return result;
}

Choices renamed_back(const std::vector<Choices>& kept, const Choices& original) {
  Choices result(original.size());
  for (std::size_t v = 0; v < original.size(); ++v) {
    const auto at = std::lower_bound(kept[v].begin(), kept[v].end(), original[v]);
    if (at == kept[v].end() || *at != original[v]) return {};
    result[v] = static_cast<std::uint32_t>(at - kept[v].begin());
  }
  return result;
}

Restriction restrict_choices(const CostTables& tables, std::vector<Choices> kept) {
  Restriction result;
  result.kept = std::move(kept);
  result.tables.quantum = tables.quantum;
  Restrictor restrictor(tables, result.kept);
  for (std::uint32_t v = 0; v < tables.variables.size(); ++v) {
    result.tables.variables.push_back(restrictor.vector(v));
  }
  result.tables.edges.reserve(tables.edges.size());
  for (const CostTables::Edge& edge : tables.edges) {
    result.tables.edges.push_back(restrictor.edge(edge));
  }
  return result;
}

CostTables merge_parallel_edges(const CostTables& tables) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<TablePointer, bool>>>
      between;
  for (const CostTables::Edge& edge : tables.edges) {
    between[std::minmax(edge.from, edge.to)].emplace_back(edge.table, edge.from > edge.to);
  }
  CostTables result{tables.variables, {}, tables.quantum};
  Merger merger;
  for (auto& [pair, parts] : between) {
    result.edges.push_back({pair.first, pair.second, merger.sum(std::move(parts))});
  }
  return result;
}

std::size_t count_choices(const CostTables& tables) {
  return std::accumulate(tables.variables.begin(), tables.variables.end(), std::size_t{0},
                         [](std::size_t sum, const auto& v) { return sum + v->size(); });
}

}  // namespace strata
