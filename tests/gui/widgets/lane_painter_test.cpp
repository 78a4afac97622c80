// Lanes as they are painted: what stands out is seen however many slices a pixel holds.

#include "gui/widgets/timeline/lane_painter.h"

#include <QApplication>
#include <QImage>
#include <cstdlib>

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

constexpr std::uint32_t kMany = 1000, kWanted = 501;

// One slice after another, long ones and short ones in turns; the wanted one is short and has a
// label of its own.
Recording crowded() {
  Recording recording;
  std::vector<Slice> slices;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const double begin = recording.end;
    recording.end += i % 2 == 0 ? 3 : 1;
    slices.push_back({begin, recording.end, i == kWanted ? 1U : 0U, i, 1, 0});
  }
  recording.styles.push_back({});
  recording.labels = {make_label("other", "", LayerId()), make_label("wanted", "", LayerId())};
  recording.lanes.emplace_back(LaneName{"gpu0", "compute", LaneKind::device}, std::move(slices));
  return recording;
}

// Ten slices a pixel: without any that stands out all columns look alike.
TEST(LanePainterTest, WhatStandsOutHasItsPixel) {
  const Recording recording = crowded();
  const Theme theme = theme_of(QApplication::palette());
  const QRgb full = colour_of(recording.styles.front(), theme).rgb();
  const auto strong_columns = [&](LanePainter& painter) {
    QImage image(100, 10, QImage::Format_RGB32);
    image.fill(theme.background);
    QPainter on_image(&image);
    painter.paint(on_image, recording.lanes.front(), image.rect(), TimeWindow(recording.end));
    on_image.end();
    int strong = 0;
    // A column that sums its slices up may be a shade off.
    for (int x = 0; x < image.width(); ++x) {
      strong += std::abs(qRed(image.pixel(x, 5)) - qRed(full)) <= 2;
    }
    return strong;
  };
  LanePainter painter(recording, theme);
  EXPECT_EQ(strong_columns(painter), 100);
  painter.set_lit({false, true});
  EXPECT_GE(strong_columns(painter), 1);
  EXPECT_LE(strong_columns(painter), 2);
  painter.set_lit({false, false});
  EXPECT_EQ(strong_columns(painter), 0);
}

}  // namespace
}  // namespace strata::gui
