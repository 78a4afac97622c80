#include "sim/solver/neighbourhood.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"

namespace strata {
namespace {

// Neighbours that take the same cut at once: up to so many, and runs that have the same one.
constexpr std::uint32_t kLongestStretch = 4;
// Of the variables around one that changes so many follow it, at most.
constexpr std::size_t kMostResponses = 16;
// Of two choices at once so many are looked at: those that cost least.
constexpr std::size_t kMostPairs = 2048;
// A search makes some thousands of moves; of a network of hundreds of layers there are millions,
// which take gigabytes.
constexpr std::size_t kMostMoves = 50'000, kVariablesAtOnce = 64;
// In networks of so few variables any two, in others those that an edge joins.
constexpr std::uint32_t kFewVariables = 12;

void keep_cheapest(std::size_t most, std::vector<Move>& moves) {
  if (moves.size() <= most) return;
  const auto end = moves.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(moves.begin(), end, moves.end());
  moves.erase(end, moves.end());
}

}  // namespace

Neighbourhood::Neighbourhood(const CostTables& tables, const ChoiceKinds& kinds,
                             std::span<const Choices> others)
    : tables_(tables),
      kinds_(kinds),
      others_(others),
      edges_(tables.variables.size()),
      choice_of_(tables.variables.size()) {
  for (std::size_t v = 0; v < choice_of_.size(); ++v) {
    for (std::uint32_t c = 0; c < kinds[v].size(); ++c) choice_of_[v].emplace(kinds[v][c], c);
  }
  for (std::uint32_t e = 0; e < tables.edges.size(); ++e) {
    edges_[tables.edges[e].from].push_back(e);
    edges_[tables.edges[e].to].push_back(e);
  }
}

double Neighbourhood::cost_of(const Choices& at, std::uint32_t variable,
                              std::uint32_t choice) const {
  double sum = (*tables_.variables[variable])[choice];
  for (const std::uint32_t e : edges_[variable]) {
    const CostTables::Edge& edge = tables_.edges[e];
    sum += edge.from == variable ? edge.table->at(choice, at[edge.to])
                                 : edge.table->at(at[edge.from], choice);
  }
  return sum;
}

// One variable after another takes its new choice, each against what is then around it.
double Neighbourhood::cost_of(Choices at, std::span<const Change> changes) const {
  double sum = 0;
  for (const auto& [variable, choice] : changes) {
    sum += cost_of(at, variable, choice) - cost_of(at, variable, at[variable]);
    at[variable] = choice;
  }
  return sum;
}

// From a variable on, those that make the same choice as it does.
std::uint32_t Neighbourhood::end_of_run(const Choices& at, std::uint32_t v) const {
  std::uint32_t end = v + 1;
  while (end < at.size() && kind(at, end) == kind(at, v)) ++end;
  return end;
}

// Variables [first, first + others.size()) take others' choices.
void Neighbourhood::add(const Choices& at, std::uint32_t first,
                        std::span<const std::uint32_t> others, std::vector<Move>& moves) const {
  Move move;
  for (const std::uint32_t choice : others) {
    if (choice != at[first]) move.changes.push_back({first, choice});
    ++first;
  }
  if (move.changes.empty()) return;
  move.cost = cost_of(at, move.changes);
  if (std::isfinite(move.cost)) moves.push_back(std::move(move));
}

// Variables [first, last) make one kind of choice, where they all can.
void Neighbourhood::add_stretch(const Choices& at, std::uint32_t first, std::uint32_t last,
                                std::uint32_t all_of, std::vector<Move>& moves) const {
  Choices others;
  for (std::uint32_t v = first; v < last; ++v) {
    const auto& kinds = choice_of_[v];
    const auto choice = kinds.find(all_of);
    if (choice == kinds.end()) return;
    others.push_back(choice->second);
  }
  add(at, first, others, moves);
}

void Neighbourhood::add_choices(const Choices& at, std::uint32_t v,
                                std::vector<Move>& moves) const {
  const auto size = static_cast<std::uint32_t>(at.size());
  const std::uint32_t run = end_of_run(at, v);
  const bool starts_run = v == 0 || kind(at, v - 1) != kind(at, v);
  for (const std::uint32_t all_of : kinds_[v]) {
    for (std::uint32_t last = v + 1; last <= std::min(size, v + kLongestStretch); ++last) {
      add_stretch(at, v, last, all_of, moves);
    }
    if (starts_run && run > v + kLongestStretch) add_stretch(at, v, run, all_of, moves);
  }
}

std::uint32_t Neighbourhood::best_response(const Choices& at, std::uint32_t v) const {
  std::uint32_t best = at[v];
  double least = cost_of(at, v, best);
  for (std::uint32_t c = 0; c < tables_.variables[v]->size(); ++c) {
    const double cost = cost_of(at, v, c);
    if (cost < least) least = cost, best = c;
  }
  return best;
}

// One variable takes another choice, and around it one after another what suits that best under
// the tables, as far as that is something else.
void Neighbourhood::add_responses(const Choices& at, std::uint32_t v, std::vector<Move>& moves,
                                  const std::atomic<bool>* cancelled) const {
  for (std::uint32_t c = 0; c < tables_.variables[v]->size(); ++c) {
    throw_if_cancelled(cancelled);
    if (c == at[v]) continue;
    Choices next = at;
    next[v] = c;
    std::vector<std::uint32_t> changed = {v};
    std::set<std::uint32_t> asked = {v};
    for (std::size_t i = 0; i < changed.size() && changed.size() < kMostResponses; ++i) {
      for (const std::uint32_t e : edges_[changed[i]]) {
        const CostTables::Edge& edge = tables_.edges[e];
        const std::uint32_t other = edge.from == changed[i] ? edge.to : edge.from;
        if (!asked.insert(other).second) continue;
        next[other] = best_response(next, other);
        if (next[other] != at[other]) changed.push_back(other);
      }
    }
    if (changed.size() == 1) continue;
    const auto [first, last] = std::minmax_element(changed.begin(), changed.end());
    add(at, *first, std::span(next).subspan(*first, *last - *first + 1), moves);
  }
}

// Where another start differs, stretch by stretch, and from there to the end.
void Neighbourhood::add_stretches(const Choices& at, std::span<const std::uint32_t> other,
                                  std::vector<Move>& moves) const {
  const auto size = static_cast<std::uint32_t>(at.size());
  for (std::uint32_t first = 0; first < size;) {
    if (at[first] == other[first]) {
      ++first;
      continue;
    }
    std::uint32_t last = first;
    while (last < size && at[last] != other[last]) ++last;
    add(at, first, other.subspan(first, last - first), moves);
    if (last < size) add(at, first, other.subspan(first), moves);
    first = last;
  }
}

std::vector<Move> Neighbourhood::moves(const Choices& at, unsigned threads,
                                       const std::atomic<bool>* cancelled) const {
  std::vector<Move> all;
  for (std::size_t first = 0; first < at.size(); first += kVariablesAtOnce) {
    std::vector<std::vector<Move>> some(std::min(kVariablesAtOnce, at.size() - first));
    parallel_for(some.size(), threads, [&](std::size_t i, unsigned) {
      const auto v = static_cast<std::uint32_t>(first + i);
      throw_if_cancelled(cancelled);
      add_choices(at, v, some[i]);
      add_responses(at, v, some[i], cancelled);
    });
    for (std::vector<Move>& moves : some) std::ranges::move(moves, std::back_inserter(all));
    keep_cheapest(kMostMoves, all);
  }
  for (const Choices& other : others_) add_stretches(at, other, all);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool Neighbourhood::makes_pairs(std::uint32_t u, std::uint32_t v) const {
  if (tables_.variables.size() <= kFewVariables) return true;
  return std::any_of(edges_[u].begin(), edges_[u].end(), [&](std::uint32_t e) {
    return tables_.edges[e].from == v || tables_.edges[e].to == v;
  });
}

std::vector<Move> Neighbourhood::pairs(const Choices& at,
                                       const std::atomic<bool>* cancelled) const {
  std::vector<Move> all;
  for (std::uint32_t u = 0; u < at.size(); ++u) {
    for (std::uint32_t v = u + 1; v < at.size(); ++v) {
      throw_if_cancelled(cancelled);
      if (makes_pairs(u, v)) add_pairs(at, u, v, all);
      if (all.size() > 16 * kMostPairs) keep_cheapest(kMostPairs, all);
    }
  }
  keep_cheapest(kMostPairs, all);
  std::sort(all.begin(), all.end());
  return all;
}

void Neighbourhood::add_pairs(const Choices& at, std::uint32_t u, std::uint32_t v,
                              std::vector<Move>& moves) const {
  for (std::uint32_t a = 0; a < tables_.variables[u]->size(); ++a) {
    for (std::uint32_t b = 0; b < tables_.variables[v]->size(); ++b) {
      if (a == at[u] || b == at[v]) continue;
      const std::array changes = {Change{u, a}, Change{v, b}};
      const double cost = cost_of(at, changes);
      if (std::isfinite(cost)) moves.push_back({cost, {changes.begin(), changes.end()}});
    }
  }
}

}  // namespace strata
