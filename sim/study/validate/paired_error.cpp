#include "sim/study/validate/paired_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/quantile.h"

namespace strata {
namespace {

constexpr double kConfidenceAsked = 0.95;
constexpr double kKnownError = 0.05;      // half the width of an interval that says something
constexpr std::size_t kPairsToGuess = 9;  // from which a width tells how it will shrink

// The confidence of the interval from the k-th of n sorted values to the k-th from the end: the
// median is outside where k - 1 or fewer of n fair coins fall on one side.
class SignTest {
 public:
  explicit SignTest(std::size_t n) : n_(static_cast<double>(n)) {}

  double confidence(std::size_t k) const {
    double outside = 0;
    for (std::size_t i = 0; i < k; ++i) outside += probability(static_cast<double>(i));
    return 1 - 2 * outside;
  }

 private:
  double probability(double heads) const {
    return std::exp(std::lgamma(n_ + 1) - std::lgamma(heads + 1) - std::lgamma(n_ - heads + 1) -
                    n_ * std::log(2.0));
  }
  double n_;
};

bool is_within(const PairedError& error, double limit) {
  return -limit <= error.low && error.high <= limit;
}

bool is_beyond(const PairedError& error, double limit) {
  return error.low > limit || error.high < -limit;
}

}  // namespace

bool PairedError::is_known() const {
  return confidence >= kConfidenceAsked;
}

PairedError paired_error(std::span<const StepPair> pairs) {
  std::vector<double> logs;
  for (const StepPair& pair : pairs) logs.push_back(std::log(pair.predicted / pair.measured));
  std::sort(logs.begin(), logs.end());
  const SignTest test(logs.size());
  std::size_t k = 1;
  while (2 * (k + 1) <= logs.size() && test.confidence(k + 1) >= kConfidenceAsked) ++k;
  return {std::expm1(quantile(logs, 0.5)), std::expm1(logs[k - 1]),
          std::expm1(logs[logs.size() - k]), std::max(test.confidence(k), 0.0), logs.size()};
}

std::string_view name(Judgement verdict) {
  switch (verdict) {
    case Judgement::holds:
      return "holds";
    case Judgement::off:
      return "off";
    case Judgement::too_noisy:
      return "too noisy to judge";
    case Judgement::too_few:
      break;
  }
  return "too few rounds to judge";
}

Judgement judge(const PairedError& error, double limit) {
  if (!error.is_known()) return Judgement::too_few;
  if (is_within(error, limit)) return Judgement::holds;
  if (is_beyond(error, limit)) return Judgement::off;
  if (error.half_width() > kKnownError) return Judgement::too_noisy;
  return std::abs(error.median) <= limit ? Judgement::holds : Judgement::off;
}

// An interval's width falls with the root of the number of pairs.
std::size_t pairs_to_judge(const PairedError& error) {
  const double ratio = error.half_width() / kKnownError;
  const double pairs = static_cast<double>(error.pairs) * ratio * ratio;
  return std::max(kPairsToGuess, static_cast<std::size_t>(std::ceil(pairs)));
}

}  // namespace strata
