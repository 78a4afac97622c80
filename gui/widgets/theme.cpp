#include "gui/widgets/theme.h"

#include <QApplication>
#include <QStyle>
#include <QStyleFactory>
#include <algorithm>
#include <array>
#include <cmath>

namespace strata::gui {
namespace {

struct Shades {
  QRgb light, dark;
};
constexpr std::array<Shades, kWorkKinds> kWorkColours = {{{0x3f8fd2, 0x4a97d8},
                                                          {0x2fa58a, 0x36b296},
                                                          {0x8f9bab, 0x7d8897},
                                                          {0xe0a32e, 0xd9a441},
                                                          {0xb0559f, 0xc06fb0},
                                                          {0xd88ac8, 0xa86a9c},
                                                          {0xd88ac8, 0xa86a9c}}};

QColor mixed(const QColor& a, const QColor& b, double share) {
  const auto part = [&](float from, float to) {
    return static_cast<float>(from + (to - from) * share);
  };
  return QColor::fromRgbF(part(a.redF(), b.redF()), part(a.greenF(), b.greenF()),
                          part(a.blueF(), b.blueF()));
}

QPalette dark_palette() {
  const QColor window(0x1f, 0x22, 0x27), base(0x17, 0x19, 0x1d), text(0xe4, 0xe6, 0xe9);
  QPalette palette(text, QColor(0x2c, 0x30, 0x37), QColor(0x45, 0x4a, 0x53),
                   QColor(0x11, 0x12, 0x15), QColor(0x3a, 0x3f, 0x47), text, Qt::white, base,
                   window);
  palette.setColor(QPalette::AlternateBase, QColor(0x1c, 0x1f, 0x23));
  palette.setColor(QPalette::Highlight, QColor(0x2f, 0x6f, 0xc4));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, QColor(0x6f, 0xae, 0xf5));
  palette.setColor(QPalette::ToolTipBase, QColor(0x2c, 0x30, 0x37));
  palette.setColor(QPalette::ToolTipText, text);
  palette.setColor(QPalette::PlaceholderText, QColor(0x8b, 0x92, 0x9c));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(0x73, 0x79, 0x82));
  }
  return palette;
}

QPalette light_palette() {
  const QColor window(0xf3, 0xf4, 0xf6), base(Qt::white), text(0x1d, 0x21, 0x27);
  QPalette palette(text, QColor(0xe7, 0xe9, 0xec), Qt::white, QColor(0x9a, 0xa0, 0xa8),
                   QColor(0xc5, 0xc9, 0xcf), text, Qt::white, base, window);
  palette.setColor(QPalette::AlternateBase, QColor(0xf7, 0xf8, 0xfa));
  palette.setColor(QPalette::Highlight, QColor(0x1f, 0x63, 0xbd));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, QColor(0x1f, 0x63, 0xbd));
  palette.setColor(QPalette::ToolTipBase, QColor(0xff, 0xff, 0xf2));
  palette.setColor(QPalette::ToolTipText, text);
  palette.setColor(QPalette::PlaceholderText, QColor(0x7a, 0x80, 0x88));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(0x9b, 0xa1, 0xa9));
  }
  return palette;
}

bool desktop_is_dark() {
  static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  return dark;
}

}  // namespace

void apply(Appearance appearance) {
  const bool dark =
      desktop_is_dark() ? appearance != Appearance::light : appearance == Appearance::dark;
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setPalette(dark ? dark_palette() : light_palette());
}

Theme theme_of(const QPalette& palette) {
  const QColor background = palette.color(QPalette::Base), text = palette.color(QPalette::Text);
  Theme theme;
  theme.dark = background.lightness() < 128;
  theme.background = background;
  theme.text = text;
  theme.faint = mixed(text, background, 0.34);
  theme.grid = mixed(text, background, 0.86);
  theme.accent = palette.color(QPalette::Highlight);
  theme.good = theme.dark ? QColor(0x4f, 0xc1, 0x8a) : QColor(0x12, 0x86, 0x55);
  theme.bad = theme.dark ? QColor(0xf0, 0x8a, 0x5d) : QColor(0xc2, 0x4a, 0x14);
  theme.critical = theme.dark ? QColor(0xff, 0x6b, 0x81) : QColor(0xc8, 0x1e, 0x4a);
  return theme;
}

void show_small(QWidget& widget) {
  constexpr double kSmall = 0.88;
  QFont small = widget.font();
  small.setPointSizeF(small.pointSizeF() * kSmall);
  widget.setFont(small);
}

QColor see_through(QColor colour, double share) {
  colour.setAlphaF(static_cast<float>(share));
  return colour;
}

QColor work_colour(WorkKind kind, const Theme& theme) {
  const Shades& shades = kWorkColours[static_cast<std::size_t>(kind)];
  return QColor::fromRgb(theme.dark ? shades.dark : shades.light);
}

QColor task_colour(TaskKind kind, Phase phase, const Theme& theme) {
  const WorkKind work = role_of(kind, phase).value_or(TaskRole{}).work;
  if (work != WorkKind::backward || phase == Phase::backward_data) return work_colour(work, theme);
  return QColor::fromRgb(theme.dark ? 0x79b85b : 0x7fbf5f);  // gradients of parameters
}

QColor recomputation_colour(const Theme& theme) {
  return QColor::fromRgb(theme.dark ? 0x8277e6 : 0x5a4fc0);
}

// Away from the background by little, so that text can be read on both.
QColor odd_round_colour(const QColor& colour, const Theme& theme) {
  constexpr double kShare = 0.24;
  return mixed(colour, theme.dark ? QColor(Qt::black) : QColor(Qt::white), kShare);
}

QBrush bubble_brush(const Theme& theme, double strength) {
  return {see_through(theme.faint, 0.5 * strength), Qt::BDiagPattern};
}

// Okabe and Ito's eight, without black, and three between them.
QColor category_colour(std::size_t i, const Theme& theme) {
  static constexpr std::array<QRgb, 10> kColours = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                                    0x56b4e9, 0xd55e00, 0x9a8fd8, 0xb8a600,
                                                    0x7a2a78, 0x8c564b};
  const QColor colour = QColor::fromRgb(kColours[i % kColours.size()]);
  return theme.dark ? mixed(colour, Qt::white, 0.18) : colour;
}

// So much nearer to white; below 0 to black.
QColor shade_colour(const QColor& colour, std::size_t shade) {
  constexpr std::array<float, 5> kLighter = {-0.3F, 0.3F, 0.15F, 0, -0.15F};
  const float more = kLighter[shade % kLighter.size()];
  float hue = 0, saturation = 0, lightness = 0;
  colour.getHslF(&hue, &saturation, &lightness);
  lightness += more > 0 ? more * (1 - lightness) : more * lightness;
  return QColor::fromHslF(hue, saturation, lightness);
}

QColor scale_colour(double value, const Theme& theme) {
  const double at = std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0;
  const QColor calm = theme.dark ? QColor(0x2b, 0x3a, 0x4a) : QColor(0xe3, 0xec, 0xf5);
  const QColor middle = theme.dark ? QColor(0x3d, 0x8a, 0xc9) : QColor(0x4f, 0x9b, 0xd3);
  const QColor loud = theme.dark ? QColor(0xff, 0xb0, 0x3b) : QColor(0xc0, 0x3b, 0x0e);
  return at < 0.5 ? mixed(calm, middle, at * 2) : mixed(middle, loud, at * 2 - 1);
}

QColor balance_colour(double value, const Theme& theme) {
  const double at = std::isfinite(value) ? std::clamp(value, -1.0, 1.0) : 1;
  const QColor neither = mixed(theme.text, theme.background, 0.75);
  return mixed(neither, at < 0 ? theme.good : theme.bad, std::abs(at));
}

}  // namespace strata::gui
