#include "sim/replay/replay.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/builder.h"

namespace strata {
namespace {

// a -- s -- b and b -- c, each link with 10 GB/s and 1 us one way; d stands alone.
Cluster small_cluster() {
  ClusterBuilder builder("small");
  for (const char* name : {"a", "b", "c", "d"}) builder.add_device({.name = name});
  builder.add_switch("s");
  const BytesPerSecond bandwidth{10e9};
  const Seconds latency{1e-6};
  builder.add_link({"a", "s", bandwidth, latency, "as", ""});
  builder.add_link({"s", "b", bandwidth, latency, "sb", ""});
  builder.add_link({"b", "c", bandwidth, latency, "bc", ""});
  return std::move(builder).build();
}

ReplayPlan parse(std::string_view text) {
  return parse_replay(text, "p", small_cluster());
}

template <class Action>
std::string said(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string error_of(std::string_view text) {
  return said([&] { parse(text); });
}

constexpr Tick kMicrosecond = 1'000'000;

constexpr const char* kEveryForm = R"({"id":"x","on":"b","seconds":2e-6,"priority":3}
{"id":"f","from":"a","to":"c","bytes":1e6,"after":["x",7],"delay":1e-6,"not_before":5e-6}

{"id":7,"event":0}
{"id":"o","over":["sb","bc"],"weights":[1,0.5],"bytes":0,"latency":4e-6}
)";

void expect_every_form(const ReplayPlan& plan) {
  const Workload& w = plan.workload;
  ASSERT_EQ(w.size(), 4u);
  const ActivityId x{0u}, f{1u}, seven{2u}, o{3u};
  EXPECT_EQ(w.device(x), DeviceId{1u});
  EXPECT_EQ(w.duration(x), 2 * kMicrosecond);
  EXPECT_EQ(w.priority(x), 3u);
  EXPECT_THAT(w.demands(f),
              testing::ElementsAre(Demand{LinkId{0u}}, Demand{LinkId{1u}}, Demand{LinkId{2u}}));
  EXPECT_EQ(w.bytes(f), 1e6);
  EXPECT_EQ(w.latency(f), 3 * kMicrosecond);
  EXPECT_EQ(w.delay(f), kMicrosecond);
  EXPECT_EQ(w.not_before(f), 5 * kMicrosecond);
  EXPECT_EQ(w.kind(seven), ActivityKind::event);
  EXPECT_THAT(w.demands(o), testing::ElementsAre(Demand{LinkId{1u}}, Demand{LinkId{2u}, 0.5}));
  EXPECT_EQ(w.latency(o), 4 * kMicrosecond);
  EXPECT_THAT(w.dependencies(),
              testing::UnorderedElementsAre(Dependency{f, x}, Dependency{f, seven}));
}

TEST(Replay, ReadsEveryFormFromLines) {
  const ReplayPlan plan = parse(kEveryForm);
  expect_every_form(plan);
  ASSERT_EQ(plan.ids.size(), 4u);
  EXPECT_EQ(plan.ids[ActivityId{0u}], "x");
  EXPECT_EQ(plan.ids[ActivityId{1u}], "f");
  EXPECT_EQ(plan.ids[ActivityId{2u}], "7");
  EXPECT_EQ(plan.ids[ActivityId{3u}], "o");
  EXPECT_TRUE(plan.ids.is_integer(ActivityId{2u}));
  for (std::size_t i : {0u, 1u, 3u}) EXPECT_FALSE(plan.ids.is_integer(ActivityId{i}));
}

// What is printed reads back as the same workload; a document holds the same objects.
TEST(Replay, PrintsWhatItReads) {
  const ReplayPlan plan = parse(kEveryForm);
  const std::string text = print_replay(plan.workload, small_cluster(), {"x", "f", "7", "o"});
  EXPECT_EQ(text, R"({"id":"x","on":"b","seconds":0.000002000000,"priority":3}
{"id":"f","over":["as","sb","bc"],"bytes":1000000,"latency":0.000003000000,"delay":0.000001000000,"not_before":0.000005000000,"after":["x","7"]}
{"id":"7","event":0.000000000000}
{"id":"o","over":["sb","bc"],"weights":[1,0.5],"bytes":0,"latency":0.000004000000}
)");
  expect_every_form(parse(text));
}

TEST(Replay, ReadsADocument) {
  const ReplayPlan plan = parse(R"({
  "activities": [
    {"id": "one", "on": "a", "seconds": 1, "after": ["two"]},
    {"id": "two", "on": "a", "seconds": 2}
  ]
})");
  EXPECT_EQ(plan.workload.size(), 2u);
  EXPECT_THAT(plan.workload.dependencies(),
              testing::ElementsAre(Dependency{ActivityId{0u}, ActivityId{1u}}));
  EXPECT_EQ(plan.ids[ActivityId{1u}], "two");
  EXPECT_EQ(error_of(R"({"activities":[]})"), "p: no activities; allowed: one or more");
}

// Longer than the first piece that is read, with lines that lie across its end, and backwards, so
// that every dependency stands later in the file.
TEST(Replay, ReadsLongFilesPieceByPiece) {
  const std::string file = testing::TempDir() + "/strata_replay_long.jsonl";
  constexpr std::size_t kLines = 40000;
  {
    std::ofstream out(file);
    for (std::size_t i = 0; i < kLines; ++i) {
      out << R"({"id":"activity-)" << i << R"(","on":"a","seconds":0.001)";
      if (i + 1 < kLines) out << R"(,"after":["activity-)" << i + 1 << R"("])";
      out << "}\n";
    }
  }
  const ReplayPlan plan = read_replay(file, small_cluster());
  std::filesystem::remove(file);
  ASSERT_EQ(plan.workload.size(), kLines);
  ASSERT_EQ(plan.workload.dependencies().size(), kLines - 1);
  EXPECT_EQ(plan.ids[ActivityId{kLines - 1}], "activity-39999");
  EXPECT_EQ(simulate(plan.workload).makespan, 40 * static_cast<Tick>(kTicksPerSecond));
}

TEST(Replay, ReadsALineLongerThanTheFirstPiece) {
  std::string text = R"({"activities":[)";
  for (int i = 0; i < 60000; ++i) {
    text += R"({"id":)" + std::to_string(i) + R"(,"on":"a","seconds":0.5},)";
  }
  text.back() = ']';
  EXPECT_EQ(parse(text + "}").workload.size(), 60000u);
}

// Seconds are what an activity takes on its device: a speed changes none of them, either way.
TEST(Replay, SecondsHoldAtTheSpeedOfTheDevice) {
  ClusterBuilder builder("slow");
  builder.add_device({.name = "a", .speed = 0.5});
  const Cluster cluster = std::move(builder).build();
  const ReplayPlan plan = parse_replay(R"({"id":1,"on":"a","seconds":1e-6})", "p", cluster);
  EXPECT_EQ(plan.workload.duration(ActivityId{0u}), kMicrosecond);
  EXPECT_EQ(print_replay(plan.workload, cluster), R"({"id":0,"on":"a","seconds":0.000001000000})"
                                                  "\n");
}

struct Bad {
  const char* text;
  const char* message;
};

constexpr const char* kForms =
    "; a compute activity has 'on' and 'seconds', a flow 'bytes' and 'from' and 'to', or 'over'";

const Bad kBad[] = {
    {"", "p: no activities; allowed: one or more"},
    {"\n \n", "p: no activities; allowed: one or more"},
    {R"({"on":"a","seconds":1})", "p:1: missing key 'id'"},
    {R"({"id":"","on":"a","seconds":1})", "p:1: 'id' must be a string, not empty, or an integer"},
    {R"({"id":1.5,"on":"a","seconds":1})", "p:1: 'id' must be a string, not empty, or an integer"},
    {R"({"id":1,"on":"a","seconds":1})"
     "\n\n"
     R"({"id":"1","on":"a","seconds":1})",
     "p:3: id '1' comes twice; the first is in line 1"},
    {R"({"id":1,"on":"e","seconds":1})",
     "p:1: 'on' names 'e', which is no device of cluster small"},
    {R"({"id":1,"on":"s","seconds":1})",
     "p:1: 'on' names 's', which is no device of cluster small"},
    {R"({"id":1,"from":"a","to":"z","bytes":1})",
     "p:1: 'to' names 'z', which is no device of cluster small"},
    {R"({"id":1,"from":"c","to":"a","bytes":1})", "p:1: cluster small: no links lead from c to a"},
    {R"({"id":1,"over":["ab"],"bytes":1})",
     "p:1: 'over' names 'ab', which is no link of cluster small"},
    {R"({"id":1,"over":["as","as"],"bytes":1})",
     "p:1: 'over' names link 'as' twice; for twice its load, give it a weight of 2"},
    {R"({"id":1,"over":[],"bytes":1})", "p:1: 'over' must name at least one link"},
    {R"({"id":1,"over":"as","bytes":1})", "p:1: 'over' must be a list of names of links"},
    {R"({"id":1,"over":["as"],"weights":[1,2],"bytes":1})",
     "p:1: 'weights' must be as many as the links of 'over': 1, not 2"},
    {R"({"id":1,"over":["as"],"weights":[0],"bytes":1})",
     "p:1: 'weights' must be numbers from 1e-20 to 1e+09"},
    {R"({"id":1,"on":"a","seconds":1,"after":["2"]})",
     "p:1: 'after' names '2', which is no activity of this file"},
    {R"({"id":1,"on":"a","seconds":1,"after":"2"})", "p:1: 'after' must be a list of ids"},
    {R"({"id":1,"on":"a","seconds":1,"after":[[]]})",
     "p:1: 'after' must be a list of ids: strings or integers"},
    {R"({"id":1,"event":0,"after":[1]})", "p:1: activities wait for one another: '1' after '1'"},
    {R"({"id":"x","event":0})"
     "\n"
     R"({"id":"y","event":0,"after":["z"]})"
     "\n"
     R"({"id":"z","event":0,"after":["y"]})",
     "p:2: activities wait for one another: 'y' after 'z' after 'y'"},
    {R"({"id":1,"on":"a","seconds":-1})",
     "p:1: 'seconds' must be a number of seconds from 0 to 9e+06"},
    {R"({"id":1,"on":"a","seconds":9.1e6})",
     "p:1: 'seconds' must be a number of seconds from 0 to 9e+06"},
    {R"({"id":1,"on":"a","seconds":1e999})",
     "p:1: 'seconds' must be a number of seconds from 0 to 9e+06"},
    {R"({"id":1,"on":"a","seconds":"1"})",
     "p:1: 'seconds' must be a number of seconds from 0 to 9e+06"},
    {R"({"id":null,"on":"a","seconds":1})", "p:1: missing key 'id'"},
    {R"({"id":1,"event":0,"after":[null]})",
     "p:1: 'after' must be a list of ids: strings or integers"},
    {R"({"activities":null})", "p:1: missing key 'activities'"},
    {R"({"id":1,"on":1,"seconds":1})", "p:1: 'on' must be a string, not empty"},
    {R"({"id":1,"from":"a","to":"b","bytes":-5})", "p:1: 'bytes' must be a number from 0 to 1e+18"},
    {R"({"id":1,"from":"a","to":"b","bytes":1e19})",
     "p:1: 'bytes' must be a number from 0 to 1e+18"},
    {R"({"id":1,"on":"a","seconds":1,"priority":0.5})", "p:1: 'priority' must be a whole number"},
    {R"({"id":1,"on":"a","seconds":1,"colour":2})",
     "p:1: unknown key 'colour'; allowed: id, on, seconds, priority, from, to, over, weights, "
     "bytes, latency, event, after, delay, not_before"},
    {R"({"id":1,"on":"a","on":"b","seconds":1})", "p:1: key 'on' comes twice"},
    {R"({"id":1,"event":1,"after":[],"after":[]})", "p:1: key 'after' comes twice"},
    {R"({"id":1})",
     "p:1: activity '1' is of no form; allowed: one of 'on' (compute), 'from' and "
     "'to' (flow), 'over' (flow), 'event'"},
    {R"({"id":1,"from":"a","to":"b","over":["as"],"bytes":1})",
     "p:1: activity '1' is of several forms; allowed: one of 'on' (compute), 'from' and 'to' "
     "(flow), 'over' (flow), 'event'"},
    {R"([1,2])", "p:1: an activity must be an object, {...}"},
    {R"("id")", "p:1: an activity must be an object, {...}"},
    {R"({"activities":[1]})", "p:1: an activity must be an object, {...}"},
    {R"({"activities":{}})", "p:1: 'activities' must be a list of objects"},
    {"{\n\"name\":1}", "p:2: unexpected key 'name'; allowed: activities, once"},
    {"{\n}", "p:1: missing key 'activities'"},
};

// A writer may give every activity every key.
TEST(Replay, TakesNullForAbsent) {
  constexpr const char* kAllKeys = R"({"id":"x","on":"b","seconds":2e-6,"priority":3,)"
                                   R"("from":null,"to":null,"over":null,"bytes":null,)"
                                   R"("weights":null,"latency":null,"event":null,"after":null,)"
                                   R"("delay":null,"not_before":null})";
  const ReplayPlan plain = parse(R"({"id":"x","on":"b","seconds":2e-6,"priority":3})");
  const std::string document = fmt::format("{{\"activities\":[{}]}}", kAllKeys);
  const std::string expected = print_replay(plain.workload, small_cluster());
  for (const std::string& text : {std::string(kAllKeys), document}) {
    const ReplayPlan plan = parse(text);
    EXPECT_EQ(print_replay(plan.workload, small_cluster()), expected) << text;
  }
}

// 90,001 links of 100 s: their sum is beyond the 9e6 s of the clock.
TEST(Replay, RefusesLatenciesThatTogetherOutlastTheClock) {
  ClusterBuilder builder("slow");
  builder.add_device({.name = "a"});
  builder.add_device({.name = "b"});
  std::string over;
  for (int i = 0; i <= 90'000; ++i) {
    builder.add_link({"a", "b", BytesPerSecond{1e9}, Seconds{100}, std::to_string(i)});
    over += fmt::format("{}\"{}\"", i == 0 ? "" : ",", i);
  }
  const Cluster cluster = std::move(builder).build();
  EXPECT_EQ(
      said([&] { parse_replay(R"({"id":1,"bytes":0,"over":[)" + over + "]}", "p", cluster); }),
      "p:1: the latencies of the flow's links add up to 9.0001e+06 s; allowed: 9e+06 s, "
      "where the clock ends");
}

// The file's own name and line for it, not the engine's number.
TEST(Replay, NamesTheActivityThatWouldEndAfterTheClock) {
  const ReplayPlan plan = parse(R"({"id":"first","on":"b","seconds":8e6}

{"id":"second","on":"b","seconds":8e6})");
  EXPECT_EQ(said([&] { simulate(plan); }),
            "p:3: activity 'second' would end after 9e+06 s, where the clock ends");
}

TEST(Replay, NamesWhatIsWrong) {
  for (const Bad& bad : kBad) EXPECT_EQ(error_of(bad.text), bad.message) << bad.text;
}

TEST(Replay, NamesKeysThatAreMissingOrOfAnotherForm) {
  const Bad cases[] = {
      {R"({"id":"k","on":"a"})", "p:1: activity 'k': missing key 'seconds'"},
      {R"({"id":"k","on":"a","seconds":null})", "p:1: activity 'k': missing key 'seconds'"},
      {R"({"id":"k","on":"a","seconds":1,"bytes":1})", "p:1: activity 'k': unexpected key 'bytes'"},
      {R"({"id":"k","from":"a","to":"b"})", "p:1: activity 'k': missing key 'bytes'"},
      {R"({"id":"k","from":"a","bytes":1})", "p:1: activity 'k': missing key 'to'"},
      {R"({"id":"k","to":"a","bytes":1})", "p:1: activity 'k': missing key 'from'"},
      {R"({"id":"k","event":1,"latency":1})", "p:1: activity 'k': unexpected key 'latency'"},
      {R"({"id":"k","event":1,"priority":1})", "p:1: activity 'k': unexpected key 'priority'"},
      {R"({"id":"k","from":"a","to":"b","bytes":1,"weights":[1]})",
       "p:1: activity 'k': unexpected key 'weights'"},
  };
  for (const Bad& bad : cases) EXPECT_EQ(error_of(bad.text), bad.message + std::string(kForms));
}

TEST(Replay, SaysWhereTheJsonIsBroken) {
  const Bad cases[] = {
      {"{\"id\":1,\"event\":0}\n{\"id\":2,\"event\":", "p:2: no valid JSON: "},
      {"{\"id\":1,\"event\":0}\n{\"id\":2,\"event\":0} x", "p:2: no valid JSON: "},
      {"{\"id\":1,\"event\":0}\n{\"id\":2,\"event\":0} {}", "p:2: one object a line"},
      {"{\"id\":1,\"event\":tru}", "p:1: 'event' must be"},
      {"{\"activities\":[\n{\"id\":1,\"event\":0},\n{\"id\":2", "p:"},
      {"{\"activities\":[\n{\"id\":1,\"event\":0}]} x", "p:"},
      {"{\"activities\":[\"\x01", "p:1: "},
      {"nonsense", "p:1: "},
  };
  for (const Bad& bad : cases) {
    EXPECT_THAT(error_of(bad.text), testing::StartsWith(bad.message)) << bad.text;
  }
}

// One wrong line is not an error of the lines that name it, and a second one is told as well.
TEST(Replay, GathersErrorsWithoutInventingMore) {
  EXPECT_EQ(error_of(R"({"id":"x","on":"nowhere","seconds":1}
{"id":"y","on":"a","seconds":1,"after":["x"]}
{"id":"z","on":"a","seconds":1,"after":["w"]})"),
            "p:1: 'on' names 'nowhere', which is no device of cluster small\n"
            "p:3: 'after' names 'w', which is no activity of this file");
}

TEST(Replay, RefusesFilesThatCannotBeRead) {
  EXPECT_THROW(read_replay("/nowhere/plan.jsonl", small_cluster()), InputError);
  EXPECT_THROW(read_replay(testing::TempDir(), small_cluster()), InputError);
}

}  // namespace
}  // namespace strata
