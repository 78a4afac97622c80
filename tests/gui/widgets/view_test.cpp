// What all views share: export in three forms, notices in place, and colours that can be told
// apart.

#include "gui/widgets/view.h"

#include <QApplication>
#include <QDir>
#include <QImage>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <cmath>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PlainView : public View {
 public:
  explicit PlainView(Workspace& workspace) : View("plain", "Plain", workspace) {
    set_content(new QLabel("what is shown"));
    resize(200, 100);
  }
  QString csv() const override { return rows; }
  std::function<QString()> csv_later() const override {
    return [this, shown = rows] {
      ++printed;
      return shown;
    };
  }
  void work() {
    when_seen([this] { ++worked; });
  }
  QWidget& shown() const { return *content(); }
  QString rows;
  int worked = 0;
  mutable int printed = 0;
};

class ViewTest : public ::testing::Test {
 protected:
  QString file(const QString& name) const { return folder_.filePath(name); }

  QTemporaryDir folder_;
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  PlainView view_{workspace_};
};

TEST(ExportName, IsThatOfTheFormatThatWasChosen) {
  EXPECT_EQ(named_as("svg", "a/timeline.png", "png"), "a/timeline.svg");
  EXPECT_EQ(named_as("csv", "a.b/timeline", "png"), "a.b/timeline.csv");
  EXPECT_EQ(named_as("png", "timeline.png", "png"), "timeline.png");
  EXPECT_EQ(named_as("png", "timeline.svg", "png"), "timeline.svg") << "somebody wrote that";
  EXPECT_EQ(named_as("svg", "timeline.gif", "png"), "timeline.gif") << "which is refused";
}

TEST_F(ViewTest, WorksNothingOutForNobody) {
  view_.work();
  view_.work();
  EXPECT_EQ(view_.worked, 0);
  view_.show();
  EXPECT_EQ(view_.worked, 1) << "the newest alone";
  view_.set_seen(false);
  view_.work();
  EXPECT_EQ(view_.worked, 1);
  view_.set_seen(true);
  EXPECT_EQ(view_.worked, 2);
  view_.work();
  EXPECT_EQ(view_.worked, 3);
}

TEST_F(ViewTest, ExportsAPictureAtTwiceTheSize) {
  view_.show();
  view_.export_to(file("a.png"));
  const QImage image(file("a.png"));
  EXPECT_EQ(image.width(), view_.width() * 2);
  EXPECT_NEAR(image.height(), view_.height() * 2, 8) << "but for the mark of the active view";
}

TEST_F(ViewTest, ExportsADrawing) {
  view_.show();
  view_.export_to(file("a.svg"));
  QFile svg(file("a.svg"));
  ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
  const QByteArray text = svg.readAll();
  QXmlStreamReader xml(text);
  while (!xml.atEnd()) xml.readNext();
  EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
  EXPECT_TRUE(text.contains("what is shown"));
}

TEST_F(ViewTest, ExportsATableWhereItHasOne) {
  EXPECT_FALSE(view_.formats().contains("csv"));
  EXPECT_THAT([&] { view_.export_to(file("a.csv")); },
              ThrowsMessage<InputError>(HasSubstr("allowed: png, svg")));
  view_.rows = "a,b\n1,2\n";
  view_.export_to(file("a.csv"));
  QFile csv(file("a.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(QString::fromUtf8(csv.readAll()), view_.rows);
  EXPECT_EQ(QDir(folder_.path()).entryList(QDir::Files).size(), 1);
}

TEST_F(ViewTest, APictureSaysWhichCaseItShows) {
  view_.resize(600, 100);
  view_.show();
  Document document;
  document.input.model = "lenet5";
  document.input.cluster = "p100-1x2";
  document.input.sets = {{"overlap", "off"}};
  workspace_.open(document);
  ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  const QSize without = view_.shown().size();
  view_.export_to(file("a.png"));
  EXPECT_GT(QImage(file("a.png")).height(), 2 * without.height());
  view_.export_to(file("a.svg"));
  QFile svg(file("a.svg"));
  ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
  EXPECT_THAT(svg.readAll().toStdString(),
              HasSubstr("lenet5 on p100-1x2, no overlap, data: a step takes "));
}

// The text is made by whoever writes it, in a job, of what was shown when it was asked for.
TEST_F(ViewTest, ALongTableIsMadeWhenItIsWritten) {
  view_.rows = "a\n1\n";
  const auto write = view_.exported(file("a.csv"));
  EXPECT_EQ(view_.printed, 0);
  view_.rows = "a\n2\n";
  write();
  EXPECT_EQ(view_.printed, 1);
  QFile csv(file("a.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(QString::fromUtf8(csv.readAll()), "a\n1\n");
}

TEST_F(ViewTest, ShowsANoticeInPlace) {
  view_.show();
  const auto* banner = view_.findChild<Banner*>();
  const QRect before = view_.shown().geometry();
  view_.notify("x.toml:3: is wrong");
  EXPECT_TRUE(banner->isVisible());
  EXPECT_EQ(view_.notice(), "x.toml:3: is wrong");
  EXPECT_EQ(banner->geometry().bottom(), view_.rect().bottom());
  EXPECT_EQ(view_.shown().geometry(), before) << "it covers, and moves nothing";
  view_.notify({});
  EXPECT_FALSE(banner->isVisible());
}

// What is on the screen is of an earlier case then, which the window says once for all views.
TEST_F(ViewTest, IsDimmedWhileNothingIsPredictedOfTheDocument) {
  view_.show();
  const auto lightness = [&] { return view_.grab().toImage().pixelColor(100, 52).lightness(); };
  view_.setPalette(QPalette(Qt::black, Qt::white));
  view_.shown().setStyleSheet("background: black");
  const int before = lightness();
  Document wrong;
  wrong.input.model = "lenet5";
  wrong.input.cluster = "nowhere-4x4";
  workspace_.open(wrong);
  ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_GT(lightness(), before + 50);
  wrong.input.cluster = "p100-1x2";
  workspace_.open(wrong);
  ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_EQ(lightness(), before);
}

// By the contrast of WCAG 2: 4.5 for text.
double luminance(const QColor& colour) {
  const auto linear = [](float part) {
    return part <= 0.03928F ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
         0.0722 * linear(colour.blueF());
}
double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(Theme, TextCanBeReadInLightAndDark) {
  for (const Appearance appearance : {Appearance::dark, Appearance::light}) {
    apply(appearance);
    const Theme theme = theme_of(QApplication::palette());
    EXPECT_EQ(theme.dark, appearance == Appearance::dark);
    for (const QColor& colour : {theme.text, theme.faint, theme.good, theme.bad, theme.critical}) {
      EXPECT_GE(contrast(colour, theme.background), 4.5) << colour.name().toStdString();
    }
  }
}

}  // namespace
}  // namespace strata::gui
