// What turning a knob does to a document, and how its values are read and written.

#include "gui/models/what_if/knobs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/named_size.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

// A what-if's value as a factor of what is there without it.
double factor_in(const Knob& knob, const std::string& text) try {
  if (text.empty()) return 1;
  if (is_factor(text)) return parse_factor(text);
  if (knob.turns == Turns::speed) return parse_number(text);
  const double value =
      knob.turns == Turns::latency ? parse_seconds(text).value : parse_bandwidth(text).value;
  return knob.base > 0 ? value / knob.base : 1;
} catch (const InputError&) {
  return 1;  // the prediction says what is wrong with it
}

Document resized(const Document& document, Turns turns, int count) {
  auto size = named_size(document.input.cluster);
  if (!size) return document;
  (turns == Turns::hosts ? size->hosts : size->devices) = count;
  return document.resized(size->name());
}

int checked_count(const Knob& knob, std::string_view text) {
  const auto count = count_in(text);
  if (!count) {
    throw InputError(fmt::format("{}: '{}' is no count; allowed: 1, 2, 3, ...", knob.title, text));
  }
  return *count;
}

void check_what_if(const Knob& knob, std::string_view text) {
  if (is_factor(text)) {
    parse_factor(text);
  } else if (knob.turns == Turns::bandwidth) {
    parse_bandwidth(text);
  } else if (knob.turns == Turns::latency) {
    parse_seconds(text);
  } else if (parse_number(text) <= 0) {
    throw InputError(fmt::format("'{}' is not a speed; allowed: a positive number", text));
  }
}

// Whether a what-if changes the number and the link that the knob's meaning is of.
bool is_about(const Knob& knob, std::string_view key) {
  constexpr std::string_view kLink = "link.";
  const std::string_view end = knob.turns == Turns::latency ? ".latency" : ".bandwidth";
  if (!key.starts_with(kLink) || !key.ends_with(end)) return false;
  key.remove_prefix(kLink.size());
  key.remove_suffix(end.size());
  return std::ranges::find(knob.selectors, key) != knob.selectors.end();
}

bool is_plain_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

double value_of(const Knob& knob, const Document& document) {
  const CaseRequest& input = document.input;
  if (knob.turns == Turns::batch) {
    return static_cast<double>(input.batch.value_or(input.batch_per_device));
  }
  if (!knob.counts()) return factor_in(knob, document.what_if(knob.key));
  const NamedSize size = named_size(input.cluster).value_or(NamedSize{});
  return (knob.turns == Turns::hosts ? size.hosts : size.devices).value_or(1);
}

Document turned(const Knob& knob, const Document& document, double value) {
  const int count = static_cast<int>(std::lround(value));
  if (knob.turns == Turns::batch) return document.with_batch(count);
  if (knob.counts()) return resized(document, knob.turns, count);
  return document.with_what_if(knob.key, value == 1 ? std::string() : text_of(knob, value));
}

Document typed(const Knob& knob, const Document& document, std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return turned(knob, document, knob.usual);
  if (knob.counts()) return turned(knob, document, checked_count(knob, text));
  std::string value(text);
  if (knob.turns != Turns::speed && is_plain_number(text)) value += 'x';
  check_what_if(knob, value);
  const bool nothing = is_factor(value) && parse_factor(value) == 1;
  return document.with_what_if(knob.key, nothing ? std::string() : value);
}

std::string text_of(const Knob& knob, double value) {
  return knob.counts() ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}x", value);
}

std::string meaning_of(const Knob& knob, const Document& document) try {
  if (knob.base == 0 || knob.mixed) return {};
  const bool latency = knob.turns == Turns::latency;
  double value = knob.base;
  for (const auto& [key, text] : document.input.sets) {  // in the order in which they are applied
    if (!is_about(knob, key)) continue;
    const double before = value;
    value = is_factor(text) ? before * parse_factor(text)
            : latency       ? parse_seconds(text).value
                            : parse_bandwidth(text).value;
  }
  return latency ? format_seconds({value}) : format_rate({value});
} catch (const InputError&) {
  return {};  // the prediction says what is wrong with it
}

double position_of(const Knob& knob, double value) {
  if (value <= knob.least) return 0;
  return std::min(1.0, std::log(value / knob.least) / std::log(knob.most / knob.least));
}

// Near 1 a factor is 1: a slider must find back.
double value_at(const Knob& knob, double position) {
  const double value = knob.least * std::pow(knob.most / knob.least, std::clamp(position, 0., 1.));
  if (!knob.counts()) {
    const bool near_1 = std::abs(position - position_of(knob, 1)) < 0.006;
    return near_1 ? 1 : parse_factor(text_of(knob, value));
  }
  const auto nearer = [&](double a, double b) {
    return std::abs(std::log(a / value)) < std::abs(std::log(b / value));
  };
  return *std::min_element(knob.stops.begin(), knob.stops.end(), nearer);
}

}  // namespace strata::gui
