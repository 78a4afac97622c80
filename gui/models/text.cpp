#include "gui/models/text.h"

#include <cmath>

namespace strata::gui {
namespace {

struct SecondsUnit {
  double seconds;
  const char* name;
};

SecondsUnit unit_of_seconds(double seconds) {
  if (seconds >= 0.9995) return {1, " s"};
  if (seconds >= 0.9995e-3) return {1e-3, " ms"};
  if (seconds >= 0.9995e-6) return {1e-6, " µs"};
  return {1e-9, " ns"};
}

}  // namespace

std::pair<QString, QString> seconds_apart(Seconds a, Seconds b) {
  constexpr int kMostDigits = 12;
  std::pair<QString, QString> texts(human_seconds(a), human_seconds(b));
  if (a == b || texts.first != texts.second) return texts;
  const SecondsUnit unit = unit_of_seconds(std::max(std::abs(a.value), std::abs(b.value)));
  const auto text = [&](Seconds seconds, int digits) {
    return QString::number(seconds.value / unit.seconds, 'g', digits) +
           QString::fromUtf8(unit.name);
  };
  for (int digits = 4; digits <= kMostDigits && texts.first == texts.second; ++digits) {
    texts = {text(a, digits), text(b, digits)};
  }
  return texts;
}

}  // namespace strata::gui
