// What a validation's cases say together (validate.h).

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/study/validate/validate.h"

namespace strata {
namespace {

constexpr double kTie = 0.01;

bool are_rivals(const ValidateCase& a, const ValidateCase& b) {
  return a.model == b.model && a.devices == b.devices;
}

// By turns, each beside the rival's: what held up one, held up the other.
bool is_faster(const ValidateCase& a, const ValidateCase& b) {
  std::vector<StepPair> pairs;
  for (std::size_t i = 0; i < std::min(a.turns.size(), b.turns.size()); ++i) {
    pairs.push_back({a.turns[i], b.turns[i]});
  }
  if (pairs.empty()) return false;
  const PairedError ratio = paired_error(pairs);
  return ratio.is_known() && ratio.high < -kTie;
}

// Calls visit(a, b) for rivals of which a was faster.
template <class Visit>
void for_ordered_pairs(const std::vector<ValidateCase>& cases, Visit visit) {
  for (const ValidateCase& a : cases) {
    for (const ValidateCase& b : cases) {
      if (are_rivals(a, b) && is_faster(a, b)) visit(a, b);
    }
  }
}

// Of the cases that are judged, else of all.
std::vector<double> told_errors(const ValidateReport& report) {
  const bool some = report.judged_cases() > 0;
  std::vector<double> errors;
  for (const ValidateCase& c : report.cases) {
    if (some && !is_judged(c.verdict)) continue;
    errors.push_back(std::abs(c.relative_error()));
  }
  return errors;
}

}  // namespace

std::size_t ValidateReport::judged_cases() const {
  return static_cast<std::size_t>(std::count_if(
      cases.begin(), cases.end(), [](const ValidateCase& c) { return is_judged(c.verdict); }));
}

double ValidateReport::mean_absolute_error() const {
  const std::vector<double> errors = told_errors(*this);
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

double ValidateReport::max_absolute_error() const {
  const std::vector<double> errors = told_errors(*this);
  return errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end());
}

const ValidateCase& ValidateReport::worst_case() const {
  const auto rank = [](const ValidateCase& c) {
    return std::pair(is_judged(c.verdict), std::abs(c.relative_error()));
  };
  return *std::ranges::max_element(cases, {}, rank);
}

Judgement ValidateReport::verdict() const {
  for (Judgement verdict : {Judgement::off, Judgement::too_few, Judgement::too_noisy}) {
    if (std::any_of(cases.begin(), cases.end(),
                    [&](const ValidateCase& c) { return c.verdict == verdict; })) {
      return verdict;
    }
  }
  return Judgement::holds;
}

// All strategies of a model on as many devices take turns, so a round of them is one.
std::optional<ValidateReport::More> ValidateReport::to_judge() const {
  if (judged_cases() == cases.size()) return {};
  More more;
  for (const ValidateCase& c : cases) {
    if (!is_judged(c.verdict)) more.rounds = std::max(more.rounds, pairs_to_judge(c.error));
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i > 0 && are_rivals(cases[i - 1], cases[i])) continue;
    more.seconds += cases[i].round * static_cast<double>(more.rounds);
  }
  return more;
}

std::size_t ValidateReport::ranked_pairs() const {
  std::size_t pairs = 0;
  for_ordered_pairs(cases, [&](const ValidateCase&, const ValidateCase&) { ++pairs; });
  return pairs;
}

double ValidateReport::rank_agreement() const {
  std::size_t agree = 0;
  for_ordered_pairs(
      cases, [&](const ValidateCase& a, const ValidateCase& b) { agree += a.profile < b.profile; });
  const std::size_t pairs = ranked_pairs();
  return pairs == 0 ? 1 : static_cast<double>(agree) / static_cast<double>(pairs);
}

bool ValidateReport::fastest_first() const {
  return std::all_of(cases.begin(), cases.end(), [&](const ValidateCase& c) {
    const auto believed_faster = [&](const ValidateCase& other) {
      return are_rivals(c, other) && other.profile < c.profile;
    };
    const auto really_faster = [&](const ValidateCase& other) {
      return are_rivals(c, other) && is_faster(other, c);
    };
    return std::any_of(cases.begin(), cases.end(), believed_faster) ||
           std::none_of(cases.begin(), cases.end(), really_faster);
  });
}

}  // namespace strata
