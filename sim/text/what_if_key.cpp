#include "sim/text/what_if_key.h"

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr double kMostRatio = 1000;

double parse_ratio(std::string_view text) {
  const double ratio = parse_number(text);
  if (ratio >= 1 && ratio <= kMostRatio) return ratio;
  throw InputError(
      fmt::format("'{}' is not a ratio; allowed: a number from 1 to {:g}", text, kMostRatio));
}

}  // namespace

bool takes_factors(WhatIfForm form) {
  return form == WhatIfForm::bandwidth || form == WhatIfForm::latency || form == WhatIfForm::speed;
}

double parse_amount(WhatIfForm form, std::string_view text) {
  switch (form) {
    case WhatIfForm::bandwidth:
      return parse_bandwidth(text).value;
    case WhatIfForm::latency:
    case WhatIfForm::duration:
      return parse_seconds(text).value;
    case WhatIfForm::size:
      return static_cast<double>(parse_bytes(text).value);
    case WhatIfForm::speed:
    case WhatIfForm::share:
      return parse_number(text);
    case WhatIfForm::ratio:
      return parse_ratio(text);
    case WhatIfForm::power:
      return parse_watts(text).value;
    case WhatIfForm::word:
    case WhatIfForm::load:
      break;
  }
  throw InputError(fmt::format("'{}' is a word; allowed: an amount", text));
}

std::string print_amount(WhatIfForm form, double amount) {
  switch (form) {
    case WhatIfForm::bandwidth:
      return format_rate({amount});
    case WhatIfForm::latency:
    case WhatIfForm::duration:
      return format_seconds({amount});
    case WhatIfForm::size:
      return format_bytes(Bytes{static_cast<std::int64_t>(amount)});
    case WhatIfForm::power:
      return fmt::format("{:.3g} W", amount);
    case WhatIfForm::speed:
    case WhatIfForm::share:
    case WhatIfForm::ratio:
    case WhatIfForm::word:
    case WhatIfForm::load:
      break;
  }
  return fmt::format("{:.2g}", amount);
}

}  // namespace strata
