#include "gui/models/short_name.h"

#include <algorithm>
#include <cctype>

namespace strata::gui {
namespace {

constexpr std::string_view kPartEnds = "_./";

bool part_begins(std::string_view name, std::size_t at) {
  return at > 0 && at < name.size() && kPartEnds.find(name[at - 1]) != kPartEnds.npos;
}

bool is_number(std::string_view part) {
  return std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Whether a part begins here that is no number.
bool word_begins(std::string_view name, std::size_t at) {
  if (!part_begins(name, at)) return false;
  const std::string_view part = name.substr(at, name.find_first_of(kPartEnds, at) - at);
  return !is_number(part);
}

// Of a block's among its like: "3" of "blocks_3_attention_".
std::string last_number(std::string_view parts) {
  std::string number;
  while (!parts.empty()) {
    const std::string_view part = parts.substr(0, parts.find_first_of(kPartEnds));
    if (!part.empty() && is_number(part)) number = part;
    parts.remove_prefix(std::min(part.size() + 1, parts.size()));
  }
  return number;
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
    const QString rest = QStringLiteral("…") + QString::fromStdString(letters.substr(at));
    const QString number = QString::fromStdString(last_number(letters.substr(0, at)));
    const QString numbered = QStringLiteral("…") + number + rest;
    shown = !number.isEmpty() && fits(numbered) ? numbered : rest;
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
