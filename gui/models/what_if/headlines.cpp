#include "gui/models/what_if/headlines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "gui/models/text.h"
#include "sim/report/number.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

/// A column that people ask for first, and what a CSV calls it.
struct Figure {
  std::string_view key;
  std::string_view csv = key;
};
constexpr std::string_view kPeak = "peak_memory_bytes", kMfu = "mfu";
constexpr std::array<Figure, 6> kFigures = {{{"step_seconds"},
                                             {"throughput", "samples_per_second"},
                                             {"eq1_seconds"},
                                             {kMfu},
                                             {"comm_bytes"},
                                             {kPeak}}};

std::optional<CaseResult> result_of(const Scene* scene) {
  if (scene == nullptr) return std::nullopt;
  return strata::result_of(scene->input, scene->prediction);
}

// Nothing where there is no result, or what it says does not apply to it.
std::optional<double> number(const ColumnSpec& column, const std::optional<CaseResult>& result) {
  return result ? number_in(field_of(column, *result)) : std::nullopt;
}

std::string as_samples(double value) {
  const std::string number =
      value < 999.5 ? short_number(value) : format_count(std::llround(value));
  return number + "/s";
}
std::string text(const ColumnSpec& column, double value) {
  if (column.key == kMfu) return human_share(value).toStdString();
  const Quantity quantity = key_unit(column.key).quantity;
  return quantity == Quantity::none ? as_samples(value)
                                    : in_symbols(text_of(Field(value), quantity)).toStdString();
}

std::string what_of(const ColumnSpec& column) {
  if (column.key == kMfu) return std::string(column.heading);  // its title is long
  std::string title = title_of(column);
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

std::string percent(double part) {
  const double value = part * 100;
  return std::abs(value) < 9.95 ? fmt::format("{:+.1f} %", value) : fmt::format("{:+.0f} %", value);
}

void compare(const ColumnSpec& column, double now, double before, Headline& line) {
  if (line.value == text(column, before)) {  // to as many digits as anybody reads
    line.difference = "as the baseline";
    return;
  }
  const double part = before == 0 ? 0 : now / before - 1;
  line.change = column.more_is_better ? -part : part;
  const char* sign = now > before ? "+" : "-";
  if (column.key == kMfu) {  // a share's change in per cent would be read as this
    line.difference = fmt::format("{}{:.1f} points", sign, std::abs(now - before) * 100);
    return;
  }
  line.difference = sign + text(column, std::abs(now - before));
  if (before != 0) line.difference += ", " + percent(part);
}

}  // namespace

std::vector<Headline> headlines(const Scene& scene, const Scene* baseline) {
  const auto result = result_of(&scene), before = result_of(baseline);
  std::vector<Headline> lines;
  for (const Figure& figure : kFigures) {
    const ColumnSpec& shown = column(figure.key);
    const std::optional<double> now = number(shown, result), then = number(shown, before);
    if (!now) continue;
    Headline& line = lines.emplace_back(Headline{what_of(shown), text(shown, *now), {}, 0});
    if (then) compare(shown, *now, *then, line);
    if (figure.key != kPeak) continue;
    if (const std::string text = shortage_text(scene); !text.empty()) {
      line.difference = text;
      line.wrong = true;
    }
  }
  return lines;
}

std::string headlines_csv(const Scene& scene, const Scene* baseline) {
  const auto result = result_of(&scene), before = result_of(baseline);
  std::string csv = "what,value,baseline\n";
  for (const Figure& figure : kFigures) {
    const ColumnSpec& shown = column(figure.key);
    const auto plain = [&](const std::optional<CaseResult>& of) {
      const std::optional<double> value = number(shown, of);
      return value ? fmt::format("{}", *value) : std::string();
    };
    csv += fmt::format("{},{},{}\n", figure.csv, plain(result), plain(before));
  }
  return csv;
}

}  // namespace strata::gui
