#include "sim/ask/progress_text.h"

#include <fmt/format.h>

#include "sim/text/units.h"

namespace strata {

std::string progress_text(const SolveProgress& p) {
  std::string text(p.stage);
  if (p.done >= 0) text += fmt::format(" {:.0f}%", 100 * p.done);
  if (p.best < kInfinity) text += fmt::format(", best {}", format_seconds(Seconds{p.best}));
  if (p.lower_bound > 0) {
    text += fmt::format(", bound {}", format_seconds(Seconds{p.lower_bound}));
    if (p.best < kInfinity) {
      text += fmt::format(", gap {:.2f}%", 100 * (p.best - p.lower_bound) / p.best);
    }
  }
  return text;
}

std::string progress_text(const RunProgress& p) {
  const bool costs = p.stage == kMeasuringCosts;
  std::string text = fmt::format("{}: {}{} of {}", p.stage, costs ? "" : "step ", p.steps, p.of);
  if (!costs && p.steps > 0) text += fmt::format(", loss {:.4f}", p.loss);
  return text;
}

}  // namespace strata
