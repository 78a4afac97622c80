#include "gui/models/short_name.h"

#include <algorithm>
#include <cctype>

namespace strata::gui {
namespace {

constexpr std::string_view kPartEnds = "_./";

bool part_begins(std::string_view name, std::size_t at) {
  return at > 0 && at < name.size() && kPartEnds.find(name[at - 1]) != kPartEnds.npos;
}

// Whether a part begins here that is no number.
bool word_begins(std::string_view name, std::size_t at) {
  if (!part_begins(name, at)) return false;
  const std::string_view part = name.substr(at, name.find_first_of(kPartEnds, at) - at);
  return !std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const auto differs = std::ranges::mismatch(a, b).in1;
  auto shared = std::min(static_cast<std::size_t>(differs - a.begin()), a.find(' '));
  while (shared > 0 && !(word_begins(a, shared) && word_begins(b, shared))) --shared;
  return shared;
}

std::vector<std::size_t> shared_prefixes(const std::vector<std::string>& names) {
  std::vector<std::size_t> shared(names.size());
  for (std::size_t i = 0; i < names.size() && names.size() > 1; ++i) {
    const std::string& before = names[i > 0 ? i - 1 : i + 1];
    const std::string& after = names[i + 1 < names.size() ? i + 1 : i - 1];
    shared[i] = std::max(shared_prefix(names[i], before), shared_prefix(names[i], after));
  }
  return shared;
}

QString shortened(const QString& name, std::size_t shared,
                  const std::function<bool(const QString&)>& fits) {
  QString shown = name;
  const std::string letters = name.toStdString();
  for (std::size_t at = 1; at <= shared; ++at) {
    if (!part_begins(letters, at)) continue;
    if (fits(shown)) break;
    shown = QStringLiteral("…") + QString::fromStdString(letters.substr(at));
  }
  return shown;
}

QString elided_name(const QString& name, std::size_t shared, double width,
                    const QFontMetricsF& metrics) {
  const auto fits = [&](const QString& text) { return metrics.horizontalAdvance(text) <= width; };
  const QString shown = shortened(name, shared, fits);
  return fits(shown) ? shown : metrics.elidedText(shown, Qt::ElideMiddle, width);
}

}  // namespace strata::gui
