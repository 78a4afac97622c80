#include "sim/study/case/improvements.h"

#include <algorithm>

#include "sim/base/error.h"
#include "sim/scenario/settings.h"
#include "sim/text/units.h"

namespace strata {
namespace {

bool improves(const std::string& key, const std::string& value) {
  const WhatIfSpec* const what_if = find_what_if(key);
  if (what_if == nullptr || !is_factor(value)) return false;
  const double factor = parse_factor(value);
  switch (what_if->form) {
    case WhatIfForm::bandwidth:
    case WhatIfForm::speed:
      return factor >= 1;
    case WhatIfForm::latency:
      return factor <= 1;
    default:
      return false;
  }
}

}  // namespace

WhatIfs improvements(const WhatIfs& sets) {
  WhatIfs found;
  std::ranges::copy_if(sets, std::back_inserter(found),
                       [](const auto& set) { return improves(set.first, set.second); });
  return found;
}

std::optional<FasterWithout> faster_without(const CaseRequest& request, const Strategy& strategy,
                                            Seconds step, const PredictOptions& options) try {
  // Of very many tasks, rounds that nearly repeat stand for others (predict.cpp).
  constexpr double kRounding = 1e-3;
  WhatIfs better = improvements(request.sets);
  if (better.empty()) return std::nullopt;
  CaseRequest slower = request;
  std::erase_if(slower.sets, [](const auto& set) { return improves(set.first, set.second); });
  PredictOptions brief = options;
  brief.critical_path = brief.memory = brief.eq1 = brief.breakdown = false;
  const Seconds without = predict(load_case(slower), strategy, brief).step_seconds();
  if (without.value >= step.value * (1 - kRounding)) return std::nullopt;
  return FasterWithout{std::move(better), without};
} catch (const InputError&) {  // a link may be too slow for the clock
  return std::nullopt;
}

}  // namespace strata
