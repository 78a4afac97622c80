// Trace files: what is kept of them, and what is said of those that are none.

#include "sim/importers/trace/read_trace.h"

#include <cstdio>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

// "process/thread: begin+length name", in microseconds.
std::string picture(const Trace& trace) {
  std::string text;
  for (const TraceSlice& slice : trace.slices) {
    const TraceThread& thread = trace.threads[slice.thread];
    text +=
        fmt::format("{}/{}: {:g}+{:g} {}\n", thread.process, thread.name, slice.begin.value * 1e6,
                    (slice.end - slice.begin).value * 1e6, trace.names[slice.name]);
  }
  return text;
}

std::string picture(std::string_view events) {
  return picture(parse_trace(events, "t.json"));
}

TEST(ReadTraceTest, KeepsSlicesByThreadAndTime) {
  EXPECT_EQ(picture(R"([
    {"ph":"X","pid":1,"tid":2,"ts":30,"dur":5,"name":"late"},
    {"ph":"X","pid":1,"tid":2,"ts":10,"dur":5,"name":"early"},
    {"ph":"X","pid":1,"tid":1,"ts":12,"dur":0.5,"name":"other"}])"),
            "process 1/thread 2: 0+5 early\n"
            "process 1/thread 2: 20+5 late\n"
            "process 1/thread 1: 2+0.5 other\n");
}

TEST(ReadTraceTest, NamesAndOrdersThreadsAsTheFileSays) {
  EXPECT_EQ(picture(R"({"displayTimeUnit":"ms","traceEvents":[
    {"ph":"M","pid":1,"name":"process_name","args":{"name":"gpu0"}},
    {"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":2}},
    {"ph":"M","pid":"host","name":"process_sort_index","args":{"sort_index":1}},
    {"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"copy"}},
    {"ph":"M","pid":1,"tid":7,"name":"thread_sort_index","args":{"sort_index":9}},
    {"ph":"M","pid":1,"tid":8,"name":"thread_name","args":{"name":"compute"}},
    {"ph":"X","pid":1,"tid":7,"ts":0,"dur":1,"name":"a"},
    {"ph":"X","pid":1,"tid":8,"ts":0,"dur":1,"name":"b"},
    {"ph":"X","pid":"host","tid":"main","ts":0,"dur":1,"name":"c"}]})"),
            "process host/thread main: 0+1 c\n"
            "gpu0/compute: 0+1 b\n"
            "gpu0/copy: 0+1 a\n");
}

TEST(ReadTraceTest, KeepsArgumentsCountersAndArrows) {
  const Trace trace = parse_trace(R"({"traceEvents":[
    {"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"whole","args":{"step":0}},
    {"ph":"X","pid":1,"tid":1,"ts":2,"dur":3,"name":"part"},
    {"ph":"X","pid":1,"tid":2,"ts":6,"dur":1,"name":"next","args":{"step": 1}},
    {"ph":"s","id":4,"pid":1,"tid":1,"ts":4.9},
    {"ph":"f","bp":"e","id":4,"pid":1,"tid":2,"ts":6},
    {"ph":"C","pid":1,"ts":3,"name":"memory","args":{"bytes":12}},
    {"ph":"C","pid":1,"ts":0,"name":"memory","args":{"bytes":7}},
    {"ph":"i","pid":1,"tid":1,"ts":3,"name":"a mark"}]})",
                                  "t.json");
  EXPECT_EQ(trace.args_of(trace.slices[0]), R"({"step":0})");
  EXPECT_EQ(trace.args_of(trace.slices[1]), "");
  EXPECT_EQ(trace.args_of(trace.slices[2]), R"({"step": 1})");
  EXPECT_THAT(trace.arrows, ElementsAre(Pair(1, 2)));  // from the innermost slice
  ASSERT_EQ(trace.counters.size(), 1);
  EXPECT_EQ(trace.counters[0].name, "memory");
  EXPECT_THAT(trace.counters[0].values, ElementsAre(Pair(Seconds{0}, 7), Pair(Seconds{3e-6}, 12)));
  EXPECT_EQ(trace.passed_over, 1);
  EXPECT_NEAR(trace.end.value, 10e-6, 1e-15);
}

TEST(ReadTraceTest, TakesNullForAbsent) {
  EXPECT_EQ(picture(R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":5,"name":"a","cat":null,"id":null,)"
                    R"("args":null}])"),
            "process 1/thread 2: 0+5 a\n");
  EXPECT_EQ(picture(R"({"displayTimeUnit":null,"traceEvents":[]})"), "");
}

TEST(ReadTraceTest, SaysWhatIsWrongAndWhere) {
  const auto error_of = [](std::string_view text) -> std::string {
    try {
      parse_trace(text, "t.json");
      return "none";
    } catch (const InputError& error) {
      return error.message();
    }
  };
  EXPECT_THAT(error_of(""), HasSubstr("t.json:1: no valid JSON"));
  EXPECT_EQ(error_of("3"), "t.json:1: no trace: neither an object nor a list");
  EXPECT_EQ(error_of("{\"traceEvents\":null}"), "t.json:1: no trace: missing key 'traceEvents'");
  EXPECT_EQ(error_of("[\n{\"ph\":null}]"), "t.json:2: an event needs 'ph', its phase");
  EXPECT_EQ(error_of("{\"layers\":[]}"), "t.json:1: no trace: missing key 'traceEvents'");
  EXPECT_EQ(error_of("{\"traceEvents\":\n7}"), "t.json:2: 'traceEvents' must be a list of events");
  EXPECT_EQ(error_of("[\n\n7]"), "t.json:3: an event must be an object, {...}");
  EXPECT_EQ(error_of("[\n{\"pid\":1}]"), "t.json:2: an event needs 'ph', its phase");
  EXPECT_EQ(error_of("[\n{\"ph\":\"X\",\"ts\":0}]"), "t.json:2: an event of phase X needs 'dur'");
  EXPECT_EQ(error_of("[{\"ph\":\"X\",\"ts\":\"0\"}]"),
            "t.json:1: 'ts' of an event must be a number of microseconds");
  EXPECT_EQ(error_of("[{\"ph\":\"X\",\"ts\":0,\"dur\":-1}]"),
            "t.json:1: 'dur' of an event must not be negative");
  EXPECT_EQ(error_of("[{\"ph\":3}]"), "t.json:1: 'ph' of an event must be a string");
  EXPECT_EQ(error_of("[{\"ph\":\"X\",\"pid\":{}}]"),
            "t.json:1: 'pid' of an event must be a number or a string");
  EXPECT_EQ(error_of("[{\"ph\":\"X\",\"args\":[]}]"),
            "t.json:1: 'args' of an event must be an object, {...}");
  EXPECT_THAT(error_of("[]\n\n7"), HasSubstr("t.json:"));
}

// Cut anywhere, a file is refused and nothing worse.
TEST(ReadTraceTest, EveryBeginningOfATraceIsRefused) {
  const std::string text =
      R"({"traceEvents":[{"ph":"X","pid":1,"tid":"a","ts":0,"dur":1.5,"name":"n","args":{"k":[1,{}]}}]})";
  parse_trace(text, "t.json");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse_trace(text.substr(0, size), "t.json"), InputError) << size;
  }
}

TEST(ReadTraceTest, ATraceWithoutEventsIsEmpty) {
  const Trace trace = parse_trace("[]", "t.json");
  EXPECT_TRUE(trace.slices.empty());
  EXPECT_EQ(trace.end, Seconds{});
}

TEST(ReadTraceTest, CanBeCalledOff) {
  const std::atomic<bool> off = true, on = false;
  const std::string text = R"([{"ph":"X","pid":1,"tid":2,"ts":30,"dur":5,"name":"a"}])";
  EXPECT_THROW(parse_trace(text, "t.json", &off), Cancelled);
  EXPECT_EQ(parse_trace(text, "t.json", &on).slices.size(), 1);
}

TEST(ReadTraceTest, NamesTheFileThatIsMissing) {
  EXPECT_THAT([] { read_trace("no/such.json"); },
              ThrowsMessage<InputError>(HasSubstr("no/such.json: cannot be read")));
}

}  // namespace
}  // namespace strata
