#include "gui/models/search_text.h"

#include <QCoreApplication>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

// Relative: what differs by less is equal but for rounding, as a search has it.
constexpr double kProved = 1e-6;

QString search_words(const char* text) {
  return QCoreApplication::translate("SearchText", text);
}

}  // namespace

std::optional<double> gap_to(Seconds lower_bound, Seconds seconds) {
  if (lower_bound.value <= 0 || seconds < (1 - kProved) * lower_bound) return std::nullopt;
  const double gap = (seconds - lower_bound) / seconds;
  return gap <= kProved ? 0 : gap;
}

QString gap_share(double gap) {
  const double percent = 100 * gap;
  return (percent < 10 ? QString::number(percent, 'g', 2) : QString::number(percent, 'f', 0)) +
         QStringLiteral(" %");
}

QString gap_text(Seconds lower_bound, Seconds seconds) {
  const std::optional<double> gap = gap_to(lower_bound, seconds);
  if (!gap) return {};
  return *gap == 0 ? search_words("proved to be the fastest")
                   : search_words("at most %1 from the fastest").arg(gap_share(*gap));
}

QString found_so_far(const SolveProgress& at) {
  if (at.best == kInfinity) {
    return QString::fromUtf8(at.stage.data(), static_cast<qsizetype>(at.stage.size()));
  }
  const Seconds best{at.best};
  const QString gap = gap_text(Seconds{at.lower_bound}, best);
  const QString found = search_words("%1 so far").arg(human_seconds(best));
  return gap.isEmpty() ? found : found + QStringLiteral(", ") + gap;
}

}  // namespace strata::gui
