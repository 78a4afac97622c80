#include "sim/solver/bound.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/cancel.h"
#include "sim/solver/table_minima.h"

namespace strata {
namespace {

constexpr double kLargestMessage = 0x1p50;  // quanta
constexpr double kLargestReduced = 0x1p51;  // quanta

/// The largest multiple of the quantum that is at most share * x. Adding 1.5 * 2^52 quanta rounds
/// to the nearest multiple: floor(), but without a call.
double share_of(double x, double share, double quantum) {
  const double exact = x * share;
  const double magic = 0x1.8p52 * quantum;
  const double nearest = (exact + magic) - magic;
  return nearest > exact ? nearest - quantum : nearest;
}

}  // namespace

/// Forward: the variables in their order, each sending to those after it.
struct DualBound::Direction {
  bool forward;
  bool ahead(std::uint32_t v, std::uint32_t other) const { return (other > v) == forward; }
};

/// Least entries go to the bound at once: so everything else is at least 0 from the start.
DualBound::DualBound(std::shared_ptr<const PairwiseModel> model)
    : model_(std::move(model)),
      messages_(model_->first_message(model_->tables().edges.size())),
      decoded_(model_->size(), 0),
      scratch_(2 * model_->max_choices()) {
  reduced_.reserve(model_->first_choice(model_->size()));
  for (std::uint32_t v = 0; v < model_->size(); ++v) {
    const std::vector<double>& seconds = *model_->tables().variables[v];
    reduced_.insert(reduced_.end(), seconds.begin(), seconds.end());
    settle(v, kInfinity);
  }
  std::map<const CostTable*, double> least;
  for (std::uint32_t e = 0; e < model_->tables().edges.size(); ++e) {
    const CostTable& table = model_->table(e);
    const auto [known, fresh] = least.try_emplace(&table, 0);
    if (fresh) known->second = least_entry(table);
    bound_ += known->second;
    if (known->second == kInfinity) continue;
    std::fill_n(messages_.begin() + static_cast<std::ptrdiff_t>(model_->first_message(e)),
                table.rows, known->second);
  }
}

/// Moves the least reduced cost of v to the bound, and drops what is beyond the limit.
void DualBound::settle(std::uint32_t v, double limit) {
  const auto begin = reduced_.begin() + static_cast<std::ptrdiff_t>(model_->first_choice(v));
  const auto end = begin + static_cast<std::ptrdiff_t>(model_->choices(v));
  const double least = *std::min_element(begin, end);
  bound_ += least;
  if (least == kInfinity) return;
  const double most = limit - bound_;
  for (auto reduced = begin; reduced != end; ++reduced) {
    *reduced -= least;
    if (*reduced > most) *reduced = kInfinity;
  }
  if (most < 0) bound_ = kInfinity;  // not even the best choice is left
}

double* DualBound::message(const Incidence& incidence, bool to_other) {
  const std::size_t to_from = model_->first_message(incidence.edge);
  const bool rows = incidence.is_from != to_other;
  return messages_.data() + to_from + (rows ? 0 : model_->table(incidence.edge).rows);
}

double DualBound::residual(const Incidence& incidence, std::uint32_t at,
                           std::uint32_t other) const {
  const double* const to_from = messages_.data() + model_->first_message(incidence.edge);
  const double* const to_to = to_from + model_->table(incidence.edge).rows;
  const double taken = incidence.is_from ? to_from[at] + to_to[other] : to_from[other] + to_to[at];
  return model_->entry(incidence, at, other) - taken;
}

/// The cheapest choice of v, given the choices of those before it.
void DualBound::decode(std::uint32_t v, const Direction& direction) {
  const double* const reduced = reduced_.data() + model_->first_choice(v);
  double* const score = scratch_.data();
  const std::size_t count = model_->choices(v);
  std::copy_n(reduced, count, score);
  for (const Incidence& incidence : model_->incident(v)) {
    if (direction.ahead(v, incidence.other)) continue;
    for (std::uint32_t c = 0; c < count; ++c) {
      if (score[c] == kInfinity) continue;
      score[c] += residual(incidence, c, decoded_[incidence.other]);
    }
  }
  auto best = std::min_element(score, score + count);
  if (*best == kInfinity) best = score + (std::min_element(reduced, reduced + count) - reduced);
  decoded_[v] = static_cast<std::uint32_t>(best - score);
}

/// Moves a share of v's reduced costs into one of its edges.
void DualBound::share_out(std::uint32_t v, const Incidence& incidence, double share) {
  const double quantum = model_->tables().quantum;
  double* const to_v = message(incidence, false);
  double* const reduced = reduced_.data() + model_->first_choice(v);
  for (std::size_t c = 0; c < model_->choices(v); ++c) {
    if (reduced[c] == kInfinity) continue;
    const double part = share == 1 ? reduced[c] : share_of(reduced[c], share, quantum);
    if (to_v[c] - part < -kLargestMessage * quantum) continue;
    to_v[c] -= part;
    reduced[c] -= part;
  }
}

/// Moves all that the edge can give to the variable at its other end: per choice there, its least
/// entry over the choices that are left to v.
void DualBound::pull(const Incidence& incidence, std::uint32_t v, unsigned threads) {
  const double quantum = model_->tables().quantum;
  const double* const to_v = message(incidence, false);
  const double* const reduced = reduced_.data() + model_->first_choice(v);
  double* const add = scratch_.data();
  for (std::size_t c = 0; c < model_->choices(v); ++c) {
    add[c] = reduced[c] == kInfinity ? kInfinity : -to_v[c];
  }
  double* const pulled = scratch_.data() + model_->max_choices();
  const CostTable& table = model_->table(incidence.edge);
  if (incidence.is_from) {
    column_minima(table, add, pulled, threads);
  } else {
    row_minima(table, add, pulled, threads);
  }
  double* const to_other = message(incidence, true);
  double* const others = reduced_.data() + model_->first_choice(incidence.other);
  for (std::size_t c = 0; c < model_->choices(incidence.other); ++c) {
    if (pulled[c] == kInfinity) {
      others[c] = kInfinity;
      continue;
    }
    const double sum = others[c] + (pulled[c] - to_other[c]);
    if (pulled[c] > kLargestMessage * quantum || sum > kLargestReduced * quantum) continue;
    others[c] = sum;
    to_other[c] = pulled[c];
  }
}

/// v keeps what it would owe to the side with more edges, were this the other side.
void DualBound::send(std::uint32_t v, const Direction& direction, unsigned threads) {
  const std::span<const Incidence> incident = model_->incident(v);
  const auto ahead = static_cast<std::size_t>(std::count_if(
      incident.begin(), incident.end(),
      [&](const Incidence& incidence) { return direction.ahead(v, incidence.other); }));
  const std::size_t shares = std::max(ahead, incident.size() - ahead);
  std::size_t left = shares;  // an equal share of what is left to each, so that nothing is lost
  for (const Incidence& incidence : incident) {
    if (!direction.ahead(v, incidence.other)) continue;
    share_out(v, incidence, 1.0 / static_cast<double>(left--));
    pull(incidence, v, threads);
  }
}

void DualBound::pass(const Direction& direction, double limit, const SolveLimits& limits) {
  for (std::size_t i = 0; i < model_->size(); ++i) {
    const auto v = static_cast<std::uint32_t>(direction.forward ? i : model_->size() - 1 - i);
    settle(v, limit);
    if (bound_ == kInfinity || is_set(limits.cancelled)) return;
    decode(v, direction);
    send(v, direction, limits.threads);
  }
}

void DualBound::sweep(double limit, const SolveLimits& limits) {
  for (const bool forward : {true, false}) {
    if (bound_ < kInfinity && !is_set(limits.cancelled)) pass({forward}, limit, limits);
  }
}

std::size_t DualBound::alive(std::uint32_t v) const {
  const auto begin = reduced_.begin() + static_cast<std::ptrdiff_t>(model_->first_choice(v));
  const auto end = begin + static_cast<std::ptrdiff_t>(model_->choices(v));
  return static_cast<std::size_t>(
      std::count_if(begin, end, [](double reduced) { return reduced < kInfinity; }));
}

std::vector<Choices> DualBound::choices() const {
  std::vector<Choices> result(model_->size());
  for (std::uint32_t v = 0; v < result.size(); ++v) {
    for (std::uint32_t c = 0; c < model_->choices(v); ++c) {
      if (alive(v, c)) result[v].push_back(c);
    }
  }
  return result;
}

double DualBound::excess(std::uint32_t v, const Choices& strategy) const {
  double sum = reduced_cost(v, strategy[v]);
  for (const Incidence& incidence : model_->incident(v)) {
    sum += residual(incidence, strategy[v], strategy[incidence.other]) / 2;
  }
  return sum;
}

void DualBound::fix(std::uint32_t v, std::uint32_t choice) {
  for (std::uint32_t c = 0; c < model_->choices(v); ++c) {
    if (c != choice) drop(v, c);
  }
}

DualBound DualBound::restricted(std::shared_ptr<const PairwiseModel> model,
                                const std::vector<Choices>& kept) const {
  DualBound part = *this;
  part.model_ = std::move(model);
  part.copy_kept(*this, kept);
  return part;
}

void DualBound::copy_kept(const DualBound& whole, const std::vector<Choices>& kept) {
  const auto copy = [&](std::uint32_t v, const double* from, double*& to) {
    for (const std::uint32_t c : kept[v]) *to++ = from[c];
  };
  reduced_.resize(model_->first_choice(model_->size()));
  messages_.resize(model_->first_message(model_->tables().edges.size()));
  double* reduced = reduced_.data();
  for (std::uint32_t v = 0; v < model_->size(); ++v) {
    copy(v, whole.reduced_.data() + whole.model_->first_choice(v), reduced);
  }
  double* message = messages_.data();
  for (std::uint32_t e = 0; e < model_->tables().edges.size(); ++e) {
    const CostTables::Edge& edge = model_->tables().edges[e];
    const double* const from = whole.messages_.data() + whole.model_->first_message(e);
    copy(edge.from, from, message);
    copy(edge.to, from + whole.model_->table(e).rows, message);
  }
  std::fill(decoded_.begin(), decoded_.end(), 0);
}

}  // namespace strata
