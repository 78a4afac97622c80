// The main of every test with a window: offscreen, in a fixed style, with fonts that have glyphs.

#include <QFontDatabase>
#include <QImage>
#include <QPainter>
#include <clocale>
#include <cstdio>

#include <gmock/gmock.h>

#include "gui/widgets/theme.h"
#include "tests/gui/widgets/watchdog.h"

namespace {

QImage drawn(const QString& text) {
  QImage image(40, 40, QImage::Format_Grayscale8);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.drawText(image.rect(), Qt::AlignCenter, text);
  return image;
}

// Where no font has glyphs, every letter is drawn as the same box, or as nothing.
bool fonts_have_glyphs() {
  return !QFontDatabase::families().isEmpty() &&
         drawn(QStringLiteral("W")) != drawn(QStringLiteral("i"));
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  strata::testing::WatchedApplication app(argc, argv);
  std::setlocale(LC_NUMERIC, "C");  // as the program does
  QApplication::setApplicationName(QStringLiteral("strata-test"));
  strata::gui::apply(strata::gui::Appearance::light);
  if (!fonts_have_glyphs()) {
    std::fputs("no font has glyphs: install fonts-dejavu-core\n", stderr);
    return 1;
  }
  return RUN_ALL_TESTS();
}
