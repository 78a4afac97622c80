#include "gui/models/what_if/headlines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/number.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

struct Figure {
  const char *what, *column;
  double (*number)(const Scene&);
  std::string (*text)(double);
  bool more_is_better;
};

std::string as_seconds(double value) {
  return format_seconds({value});
}
std::string as_bytes(double value) {
  return format_bytes({std::llround(value)});
}
std::string as_samples(double value) {
  const std::string number =
      value < 999.5 ? short_number(value) : format_count(std::llround(value));
  return number + "/s";
}

const std::array<Figure, 5>& figures() {
  static constexpr std::array<Figure, 5> kFigures = {{
      {"Step time", "step_seconds",
       [](const Scene& s) { return s.prediction.step_seconds().value; }, as_seconds, false},
      {"Throughput", "samples_per_second", throughput, as_samples, true},
      {"Eq. 1", "eq1_seconds", [](const Scene& s) { return s.prediction.eq1_seconds().value; },
       as_seconds, false},
      {"Communication", "comm_bytes",
       [](const Scene& s) { return static_cast<double>(s.prediction.communication.total().value); },
       as_bytes, false},
      {"Peak memory", "peak_memory_bytes",
       [](const Scene& s) { return static_cast<double>(peak_memory(s).value); }, as_bytes, false},
  }};
  return kFigures;
}

std::string percent(double part) {
  const double value = part * 100;
  return std::abs(value) < 9.95 ? fmt::format("{:+.1f} %", value) : fmt::format("{:+.0f} %", value);
}

void compare(const Figure& figure, double now, double before, Headline& line) {
  if (line.value == figure.text(before)) {  // to as many digits as anybody reads
    line.difference = "as the baseline";
    return;
  }
  const double part = before == 0 ? 0 : now / before - 1;
  line.change = figure.more_is_better ? -part : part;
  const char* sign = now > before ? "+" : "-";
  line.difference = sign + figure.text(std::abs(now - before));
  if (before != 0) line.difference += ", " + percent(part);
}

}  // namespace

std::vector<Headline> headlines(const Scene& scene, const Scene* baseline) {
  std::vector<Headline> lines;
  for (const Figure& figure : figures()) {
    const double now = figure.number(scene);
    Headline& line = lines.emplace_back(Headline{figure.what, figure.text(now), {}, 0});
    if (baseline != nullptr) compare(figure, now, figure.number(*baseline), line);
  }
  return lines;
}

double throughput(const Scene& scene) {
  return static_cast<double>(scene.input.graph.batch()) / scene.prediction.step_seconds().value;
}

Bytes peak_memory(const Scene& scene) {
  Bytes most;
  for (const Bytes peak : scene.prediction.peak_memory) most = std::max(most, peak);
  return most;
}

std::string headlines_csv(const Scene& scene, const Scene* baseline) {
  std::string csv = "what,value,baseline\n";
  for (const Figure& figure : figures()) {
    const std::string before =
        baseline == nullptr ? std::string() : fmt::format("{}", figure.number(*baseline));
    csv += fmt::format("{},{},{}\n", figure.column, figure.number(scene), before);
  }
  return csv;
}

}  // namespace strata::gui
