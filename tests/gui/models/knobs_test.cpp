// What sliders turn, and what the step time does over their range.

#include "gui/models/what_if/knobs.h"

#include <algorithm>
#include <clocale>
#include <cmath>

#include <gmock/gmock.h>

#include "gui/models/what_if/headlines.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/report/number.h"
#include "sim/text/units.h"
#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

std::vector<Knob> knobs(const Document& document) {
  return knobs_of(document, load_cluster(document.input.cluster));
}

Knob knob(const Document& document, const std::string& key) {
  for (const Knob& knob : knobs(document)) {
    if (knob.key == key) return knob;
  }
  throw InternalError("no knob " + key);
}

std::vector<std::string> keys(const Document& document) {
  std::vector<std::string> keys;
  for (const Knob& knob : knobs(document)) keys.push_back(knob.key);
  return keys;
}

TEST(Knobs, AreThoseOfTheClustersLinksAndSizes) {
  EXPECT_THAT(keys(document_of("lenet5", "p100-4x4")),
              ElementsAre("link.intra.bandwidth", "link.intra.latency", "link.inter.bandwidth",
                          "link.inter.latency", "link.*.bandwidth", "link.*.latency",
                          "device.*.speed", "device.first:1.speed", "hosts", "devices", "batch"));
  EXPECT_THAT(keys(document_of("lenet5", "cpu:2")),
              ElementsAre("link.intra.bandwidth", "link.intra.latency", "device.*.speed",
                          "device.first:1.speed", "devices", "batch"));
}

TEST(Knobs, WhatIsChangedAlreadyHasOneToo) {
  Document document = document_of("lenet5", "p100-1x2").with_what_if("layer.conv1.speed", "2x");
  document = document.with_what_if("device.gpu1.speed", "0.5").with_what_if("overlap", "off");
  document = document.with_what_if("device.gpu0.memory", "8 GB");  // takes no factor
  const std::vector<std::string> all = keys(document);
  const std::vector<std::string> last(all.end() - 2, all.end());
  EXPECT_THAT(last, ElementsAre("layer.conv1.speed", "device.gpu1.speed"));
  EXPECT_DOUBLE_EQ(value_of(knob(document, "device.gpu1.speed"), document), 0.5);
}

// From 1/32 to 32: 1 is the middle, and what is near 1 is 1.
TEST(Knobs, TurnFactorsOnALogarithmicScale) {
  const Document document = document_of("lenet5", "p100-4x4");
  const Knob inter = knob(document, "link.inter.bandwidth");
  EXPECT_DOUBLE_EQ(position_of(inter, 1), 0.5);
  EXPECT_DOUBLE_EQ(value_at(inter, 0), 0.0312);
  EXPECT_DOUBLE_EQ(value_at(inter, 0.6), 2);
  EXPECT_DOUBLE_EQ(value_at(inter, 0.503), 1);
  EXPECT_DOUBLE_EQ(position_of(inter, 1e9), 1);
  const Document twice = turned(inter, document, 2);
  EXPECT_EQ(twice.what_if("link.inter.bandwidth"), "2x");
  EXPECT_EQ(value_of(inter, twice), 2);
  EXPECT_EQ(turned(inter, twice, 1), document);
}

TEST(Knobs, TakeWhatIsTypedWithItsUnit) {
  const Document document = document_of("lenet5", "p100-4x4");
  const Knob inter = knob(document, "link.inter.bandwidth");
  ASSERT_GT(inter.base, 0);
  const Document typed_in = typed(inter, document, " 25 GB/s ");
  EXPECT_EQ(typed_in.what_if(inter.key), "25 GB/s");
  EXPECT_DOUBLE_EQ(value_of(inter, typed_in), 25e9 / inter.base);
  EXPECT_EQ(meaning_of(inter, typed_in), "25 GB/s");
  EXPECT_EQ(typed(inter, typed_in, ""), document);
  EXPECT_THAT([&] { typed(inter, document, "fast"); },
              ThrowsMessage<InputError>(HasSubstr("'fast' is not a bandwidth")));
  const Knob speed = knob(document, "device.*.speed");
  EXPECT_THROW(typed(speed, document, "-1"), InputError);
  EXPECT_EQ(typed(speed, document, "0.25").what_if(speed.key), "0.25");
}

// Half of a quarter of what the link has: a factor for all links multiplies with the link's own.
TEST(Knobs, SayWhatSeveralWhatIfsComeTo) {
  Document document = document_of("lenet5", "p100-4x4");
  const Cluster cluster = load_cluster("p100-4x4");
  const auto inter = std::ranges::find(cluster.links(), "inter", &Link::kind);
  document.input.sets = {{"link.*.bandwidth", "0.5x"}, {"link.inter.bandwidth", "0.25x"}};
  EXPECT_EQ(meaning_of(knob(document, "link.inter.bandwidth"), document),
            format_rate({0.125 * inter->bandwidth.value}));
  EXPECT_EQ(meaning_of(knob(document, "link.*.bandwidth"), document), "")
      << "links between hosts have another bandwidth than those in one";
  document.input.sets = {{"link.inter.bandwidth", "0.25x"}, {"link.*.bandwidth", "1 GB/s"}};
  EXPECT_EQ(meaning_of(knob(document, "link.inter.bandwidth"), document), "1 GB/s");
}

TEST(Knobs, WhatChangesOneLinkIsNotAboutAllOfItsKind) {
  Document document = document_of("lenet5", "p100-4x4");
  const Cluster cluster = load_cluster("p100-4x4");
  const auto inter = std::ranges::find(cluster.links(), "inter", &Link::kind);
  document.input.sets = {{"link." + inter->name + ".bandwidth", "1 GB/s"}};
  EXPECT_EQ(meaning_of(knob(document, "link.inter.bandwidth"), document),
            format_rate(inter->bandwidth));
}

TEST(Knobs, TurnSizesByTheClustersName) {
  const Document document = document_of("lenet5", "p100-4x4");
  EXPECT_EQ(turned(knob(document, "hosts"), document, 2).input.cluster, "p100-2x4");
  EXPECT_EQ(turned(knob(document, "devices"), document, 8).input.cluster, "p100-4x8");
  EXPECT_EQ(typed(knob(document, "hosts"), document, "3").input.cluster, "p100-3x4");
  EXPECT_THAT([&] { typed(knob(document, "hosts"), document, "2x"); },
              ThrowsMessage<InputError>(HasSubstr("is no count")));
  EXPECT_EQ(knob(document, "hosts").usual, 4);
}

// Cut by hand for sixteen devices: eight have no such cut.
TEST(Knobs, LeaveACutByHandBehindWithItsSize) {
  Document document = document_of("lenet5", "p100-4x4");
  document.strategy.configs = {config_on_first_devices(kWhole)};
  EXPECT_TRUE(turned(knob(document, "hosts"), document, 4).strategy.edited());
  EXPECT_FALSE(turned(knob(document, "hosts"), document, 2).strategy.edited());
}

// Where a comma stands before the fraction, as in German.
TEST(Knobs, TurnAlikeInEveryLocale) {
  const Document document = document_of("lenet5", "p100-4x4");
  const Knob inter = knob(document, "link.inter.bandwidth");
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr) GTEST_SKIP() << "no German here";
  const double quarter = value_at(inter, 0.3);
  std::setlocale(LC_NUMERIC, before.c_str());
  EXPECT_DOUBLE_EQ(quarter, 0.25);
}

TEST(Knobs, StopAtRoundBatches) {
  Document document = document_of("lenet5", "p100-4x4");
  const Knob batch = knob(document, "batch");
  EXPECT_EQ(value_at(batch, position_of(batch, 45)), 48);
  EXPECT_EQ(turned(batch, document, 48).input.training.batch_per_device, 48);
  document.input.training.batch = 512;
  EXPECT_EQ(turned(knob(document, "batch"), document, 256).input.training.batch, 256);
}

// The rounds together have each of 33 positions once.
TEST(KnobCurve, IsAskedForFinerAndFiner) {
  const Knob speed = knob(document_of("lenet5", "cpu:2"), "device.*.speed");
  std::vector<double> all;
  for (int round = 0; round < kCurveRounds; ++round) {
    for (const double value : curve_values(speed, round)) all.push_back(value);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 33);
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  EXPECT_THAT(curve_values(knob(document_of("lenet5", "cpu:2"), "devices"), 0),
              ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(curve_values(knob(document_of("lenet5", "cpu:2"), "devices"), 1), IsEmpty());
}

TEST(KnobCurve, HoldsWhatAPredictionSays) {
  const Document document = document_of("lenet5", "p100-1x2");
  CaseLoader loader;
  const Knob speed = knob(document, "device.*.speed");
  const auto points = curve_points(document, speed, {0.5, 1, 2}, loader, nullptr);
  ASSERT_EQ(points.size(), 3);
  EXPECT_GT(points[0].step, points[1].step);
  EXPECT_GT(points[1].step, points[2].step);
  EXPECT_EQ(points[1].step, make_scene(document, loader)->prediction.step_seconds());
}

TEST(KnobCurve, LeavesOutWhatCannotBeAndEndsWhenCalledOff) {
  Document document = document_of("lenet5", "p100-2x2").with_what_if("link.inter.latency", "2x");
  CaseLoader loader;
  const Knob hosts = knob(document, "hosts");
  const auto points = curve_points(document, hosts, {1, 2}, loader, nullptr);
  ASSERT_EQ(points.size(), 1);  // one host has no link between hosts
  EXPECT_EQ(points[0].value, 2);
  const std::atomic<bool> cancelled = true;
  EXPECT_THROW(curve_points(document, hosts, {2}, loader, &cancelled), Cancelled);
}

TEST(Headlines, SayWhatChangedAgainstTheBaseline) {
  CaseLoader loader;
  const Document document = document_of("lenet5", "p100-1x2");
  const ScenePtr before = make_scene(document, loader);
  const ScenePtr slow = make_scene(document.with_what_if("device.*.speed", "0.5"), loader);
  EXPECT_EQ(headlines(*before, nullptr)[0].difference, "");
  EXPECT_EQ(headlines(*before, before.get())[0].difference, "as the baseline");
  const std::vector<Headline> lines = headlines(*slow, before.get());
  ASSERT_EQ(lines.size(), 6);
  EXPECT_EQ(lines[0].what, "Step time");
  EXPECT_THAT(lines[0].difference, HasSubstr("+"));
  EXPECT_GT(lines[0].change, 0);
  EXPECT_GT(lines[1].change, 0) << "a lower throughput is worse";
  EXPECT_EQ(lines[3].what, "MFU");
  EXPECT_EQ(lines[3].difference, "as the baseline") << "slower devices could do less, too";
  EXPECT_EQ(lines[4].difference, "as the baseline");
}

TEST(Headlines, SayWhatDoesNotFit) {
  CaseLoader loader;
  Document document = document_of("vgg16", "p100-4x4");
  document.strategy.source = "model";
  const ScenePtr large = make_scene(document, loader);
  const Headline peak = headlines(*large, nullptr).back();
  EXPECT_EQ(peak.what, "Peak memory");
  EXPECT_TRUE(peak.wrong);
  EXPECT_EQ(peak.difference, "does not fit: 21.49 GB of 17.18 GB");
  document.strategy.source = "data";
  EXPECT_FALSE(headlines(*make_scene(document, loader), nullptr).back().wrong);
}

// A step of 1/0.32 s is no "0 samples a second".
TEST(Headlines, WriteFewSamplesASecondWithThreeDigits) {
  CaseLoader loader;
  Document document = document_of("lenet5", "p100-1x1");
  document.input.training.batch = 1;
  const auto at_speed = [&](const std::string& speed) {
    const ScenePtr scene = make_scene(document.with_what_if("device.*.speed", speed), loader);
    return std::pair(result_of(scene->input, scene->prediction).throughput.value(),
                     headlines(*scene, nullptr)[1].value);
  };
  const double fast = at_speed("1").first;
  const auto [few, text] = at_speed(shortest(0.32 / fast));
  ASSERT_LT(few, 1);
  EXPECT_GT(few, 0.1);
  EXPECT_EQ(text, short_number(few, 3) + "/s");
  const auto [many, whole] = at_speed("1000");
  ASSERT_GT(many, 1000);
  EXPECT_EQ(whole, format_count(std::llround(many)) + "/s");
}

}  // namespace
}  // namespace strata::gui
