#include "sim/scenario/range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/scenario/decimal.h"

namespace strata {
namespace {

constexpr std::int64_t kNear = 1'000'000'000;  // a billionth of a step is rounding
constexpr std::string_view kSlot = "{}";

struct Ends {
  Decimal from, to;
};

Decimal read_decimal(const Value& value) {
  if (value.is(ValueKind::integer)) return decimal_of(value.as_integer());
  return decimal_of(value.as_number());
}

[[noreturn]] void refuse_size(const Table& table, std::size_t most) {
  table.fail(fmt::format("a range of too many values; allowed: {}", most));
}

[[noreturn]] void refuse_direction(const Table& table, std::string_view by, const Decimal& change) {
  table.fail(fmt::format("the range never comes to its 'to': {} {} leads away from it", by,
                         print(change)));
}

Aligned aligned_or_fail(const Table& table, std::span<const Decimal> numbers) {
  if (auto aligned = align(numbers)) return *std::move(aligned);
  table.fail("the range's numbers lie too far apart; allowed: 27 digits from first to last");
}

Wide magnitude(Wide value) {
  return value < 0 ? -value : value;
}

// from, from + step, ... in multiples of one power of ten.
std::vector<std::string> by_step(const Table& table, const Ends& ends, const Decimal& step,
                                 std::size_t most) {
  if (step.units == 0) table.fail("'step' must not be 0: the range would not end");
  const Aligned aligned = aligned_or_fail(table, std::array{ends.from, ends.to, step});
  const Wide from = aligned.units[0], to = aligned.units[1], by = aligned.units[2];
  if (to != from && (to > from) != (by > 0)) refuse_direction(table, "step", step);
  Wide steps = (to - from) / by;
  const Wide rest = magnitude((to - from) % by), whole = magnitude(by);
  const bool short_of_one = (whole - rest) * kNear < whole;
  if (short_of_one) ++steps;
  if (steps >= static_cast<Wide>(most)) refuse_size(table, most);
  const bool hits = steps > 0 && (short_of_one || rest * kNear < whole);
  std::vector<std::string> texts;
  for (Wide i = 0; i <= steps; ++i) {
    const Wide units = i == steps && hits ? to : from + i * by;
    texts.push_back(print_ratio(units, 1, aligned.exponent));
  }
  return texts;
}

std::vector<std::string> by_count(const Table& table, const Ends& ends, const Value& value,
                                  std::size_t most) {
  const std::int64_t count = value.as_integer(2);
  if (count > static_cast<std::int64_t>(most)) refuse_size(table, most);
  const Aligned aligned = aligned_or_fail(table, std::array{ends.from, ends.to});
  const Wide from = aligned.units[0], to = aligned.units[1];
  const std::int64_t last = count - 1;
  if (from == to) table.fail("'count' values need a 'to' that is not the 'from'");
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i <= last; ++i) {
    texts.push_back(print_ratio(from * (last - i) + to * i, last, aligned.exponent));
  }
  return texts;
}

// Exact as long as 64 bits hold the digits (1, 1.1, 1.21, ...), and doubles from there on.
class Growth {
 public:
  Growth(const Decimal& from, const Decimal& factor)
      : exact_(from), factor_(factor), value_(value_of(from)) {}

  double value() const { return value_; }
  std::string text() const { return exact_ ? print(*exact_) : print(decimal_of(value_)); }

  void advance() {
    if (exact_) exact_ = product(*exact_, factor_);
    value_ = exact_ ? value_of(*exact_) : value_ * value_of(factor_);
  }

 private:
  std::optional<Decimal> exact_;
  Decimal factor_;
  double value_;
};

void check_growth(const Table& table, const Ends& ends, const Decimal& factor) {
  if (ends.from.units <= 0 || ends.to.units <= 0 || factor.units <= 0) {
    table.fail("a range by 'factor' must have a positive 'from', 'to' and 'factor'");
  }
  const double from = value_of(ends.from), to = value_of(ends.to), by = value_of(factor);
  if (by == 1) table.fail("'factor' must not be 1: the range would not end");
  if (to != from && (to > from) != (by > 1)) refuse_direction(table, "factor", factor);
}

std::vector<std::string> by_factor(const Table& table, const Ends& ends, const Decimal& factor,
                                   std::size_t most) {
  check_growth(table, ends, factor);
  const double to = value_of(ends.to), by = value_of(factor);
  const double near = to * std::min(std::fabs(by - 1), 1.0) / static_cast<double>(kNear);
  std::vector<std::string> texts;
  for (Growth at(ends.from, factor);; at.advance()) {
    const bool hits = std::fabs(at.value() - to) <= near;
    if (!hits && (at.value() > to) == (by > 1)) return texts;
    if (texts.size() == most) refuse_size(table, most);
    texts.push_back(hits ? print(ends.to) : at.text());
    if (hits) return texts;
  }
}

std::vector<std::string> read_numbers(Table& table, std::size_t most) {
  const Ends ends{read_decimal(table.required("from")), read_decimal(table.required("to"))};
  const auto step = table.optional("step"), count = table.optional("count"),
             factor = table.optional("factor");
  if (int{step.has_value()} + count.has_value() + factor.has_value() != 1) {
    table.fail("a range needs one of 'step', 'count' and 'factor'");
  }
  if (step) return by_step(table, ends, read_decimal(*step), most);
  if (count) return by_count(table, ends, *count, most);
  return by_factor(table, ends, read_decimal(*factor), most);
}

std::string read_form(const Value& value) {
  const std::string& form = value.as_string();
  const std::size_t slot = form.find(kSlot);
  if (slot == std::string::npos || form.find(kSlot, slot + 1) != std::string::npos) {
    value.fail_expected("a text with one {} for the number");
  }
  return form;
}

const std::string& read_ending(const Value& value) {
  if (value.as_string().empty()) value.fail_expected("a text that is not empty");
  return value.as_string();
}

// What is said of each number: "p100-{}x4", "{} GB/s", "{}x".
std::string read_wording(Table& table) {
  const auto form = table.optional("form"), unit = table.optional("unit"),
             suffix = table.optional("suffix");
  if (int{form.has_value()} + unit.has_value() + suffix.has_value() > 1) {
    table.fail("a range has at most one of 'form', 'unit' and 'suffix'");
  }
  if (form) return read_form(*form);
  if (unit) return fmt::format("{} {}", kSlot, read_ending(*unit));
  return suffix ? fmt::format("{}{}", kSlot, read_ending(*suffix)) : "";
}

void put_into(std::string_view wording, std::vector<std::string>& texts) {
  const std::size_t slot = wording.find(kSlot);
  const std::string_view before = wording.substr(0, slot);
  const std::string_view after = wording.substr(slot + kSlot.size());
  for (std::string& text : texts) text = fmt::format("{}{}{}", before, text, after);
}

}  // namespace

RangeValues read_range(Table table, std::size_t most) {
  RangeValues range;
  const std::string wording = read_wording(table);
  range.texts = read_numbers(table, most);
  table.finish();
  range.plain = wording.empty();
  if (!range.plain) put_into(wording, range.texts);
  return range;
}

}  // namespace strata
