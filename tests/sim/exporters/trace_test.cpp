#include "sim/exporters/trace/trace.h"

#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/cluster/cpu_cluster.h"
#include "sim/plan/plan_builder.h"
#include "sim/text/json.h"

namespace strata {
namespace {

// What a trace shows, as text: "host/gpu0, compute predicted: 0+4 a forward".
class Picture {
 public:
  explicit Picture(const std::string& trace) {
    const Document document = parse_json(trace, "trace.json");
    Table root = document.table();
    root.string("displayTimeUnit");
    for (Table& event : root.tables("traceEvents")) read(event);
    root.finish();
  }

  std::string lanes() const {
    std::string text;
    for (const auto& [at, name] : threads_) text += where(at) + "\n";
    return text;
  }
  std::string slices() const {
    std::string text;
    for (const auto& [at, slices] : slices_) text += where(at) + ":" + slices + "\n";
    return text;
  }
  std::string counters() const {
    std::string text;
    for (const auto& [of, values] : counters_) {
      text += processes_.at(of.first) + ", " + of.second + ":" + values + "\n";
    }
    return text;
  }
  std::size_t arrows() const { return arrows_; }

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;

  std::string where(const Thread& at) const {
    return processes_.at(at.first) + ", " + threads_.at(at);
  }

  void read(Table& event) {
    const std::string phase = event.string("ph");
    const std::int64_t pid = event.integer("pid");
    if (phase == "M") return read_name(event, pid);
    const double ts = event.number("ts");
    if (phase == "C") {
      const auto value = event.table("args").members().front().second.as_number();
      counters_[{pid, event.string("name")}] += fmt::format(" {}:{}", ts, value);
    } else if (phase == "X") {
      slices_[{pid, event.integer("tid")}] +=
          fmt::format(" {}+{} {}", ts, event.number("dur"), event.string("name"));
    } else if (phase == "s") {
      EXPECT_TRUE(ids_.insert(event.integer("id")).second);
      ++arrows_;
    }
  }

  void read_name(Table& event, std::int64_t pid) {
    const std::string what = event.string("name");
    Table args = event.table("args");
    if (what == "process_name") processes_[pid] = args.string("name");
    if (what == "thread_name") threads_[{pid, event.integer("tid")}] = args.string("name");
  }

  std::map<std::int64_t, std::string> processes_;
  std::map<Thread, std::string> threads_;
  std::map<Thread, std::string> slices_;
  std::map<std::pair<std::int64_t, std::string>, std::string> counters_;
  std::set<std::int64_t> ids_;
  std::size_t arrows_ = 0;
};

Graph network() {
  GraphBuilder builder("net", 2);
  const LayerId data = builder.add("data", Input{{{1, 4, 1, 1, 1}}}, {});
  builder.add("a", FullyConnected{4, false}, {data});
  return std::move(builder).build();
}

// cpu0 computes `a`; cpu1 receives it (by a link or with its own hands) and computes, too.
Plan plan(Stream copies) {
  PlanBuilder builder(DType::fp32, 2);
  const LayerId a(1);
  Buffer buffer;
  buffer.device = DeviceId(1), buffer.bytes = {16};
  const BufferId arrived = builder.add_buffer(buffer);
  const TaskId first =
      builder.add({.kind = TaskKind::compute, .layer = a, .device = DeviceId(0)}, {});
  const Piece piece{DeviceId(0), {}, Bytes{16}, {}, View{arrived}};
  const TaskId moved = builder.add_transfer({.layer = a, .device = DeviceId(1), .stream = copies},
                                            0, std::span(&piece, 1), std::span(&first, 1));
  const Operand input{arrived};
  builder.add({.kind = TaskKind::compute, .layer = a, .device = DeviceId(1)}, std::span(&moved, 1),
              {&input, 1});
  return std::move(builder).build();
}

Span span(double start_us, double end_us) {
  return {{start_us * 1e-6}, {start_us * 1e-6}, {end_us * 1e-6}};
}

Timeline predicted() {
  return Timeline(3, {span(0, 4), span(4, 5), span(5, 8)}, {{LinkId(0), {4e-6}, {1e9}}});
}
Timeline measured() {
  return Timeline(3, {span(0, 6), span(6, 8), span(8, 12)});
}

// A computation of `query`, whose product has two layers.
TEST(Trace, NamesTheLayersOfAProduct) {
  GraphBuilder net("net", 2);
  const LayerId data = net.add("data", Input{{{1, 4, 1, 1, 2}}}, {});
  const LayerId query = net.add("query", Linear{4, false}, {data});
  net.add("key", Linear{4, false}, {data});
  const Graph graph = std::move(net).build();
  PlanBuilder builder(DType::fp32, 1);
  builder.merge_products(merge_products(graph, Products::merged));
  builder.add({.kind = TaskKind::compute, .layer = query, .device = DeviceId(0)}, {});
  const Plan merged = std::move(builder).build();
  const Timeline timeline(1, {span(0, 4)});
  const std::string args = R"("shard":0,"product":"query, key")";
  EXPECT_NE(print_trace(graph, cpu_cluster(1), merged, timeline).find(args), std::string::npos);
  EXPECT_NE(print_rank_traces(graph, cpu_cluster(1), merged, timeline).front().find(args),
            std::string::npos);
  EXPECT_EQ(
      print_trace(network(), cpu_cluster(2), plan(Stream::links), predicted()).find("product"),
      std::string::npos);
}

TEST(Trace, ShowsOneTimeline) {
  const Picture picture(print_trace(network(), cpu_cluster(2), plan(Stream::links), predicted()));
  EXPECT_EQ(picture.lanes(),
            "localhost/cpu0, compute\n"
            "localhost/cpu0, parameter sync\n"
            "localhost/cpu0, statistics\n"
            "localhost/cpu1, compute\n"
            "localhost/cpu1, parameter sync\n"
            "localhost/cpu1, statistics\n"
            "localhost/cpu1, arriving 0\n");
  EXPECT_EQ(picture.slices(),
            "localhost/cpu0, compute: 0+4 a forward\n"
            "localhost/cpu1, compute: 5+3 a forward\n"
            "localhost/cpu1, arriving 0: 4+1 a input\n");
  EXPECT_EQ(picture.counters(),
            "localhost/cpu0, memory: 0:0\n"
            "localhost/cpu1, memory: 0:0 4:16 8:0\n"
            "links (bytes per second), cpu0>cpu1: 4:1000000000\n");
  EXPECT_EQ(picture.arrows(), 2U);
}

TEST(Trace, ShowsPredictedAboveMeasured) {
  const Picture picture(
      print_trace(network(), cpu_cluster(2), plan(Stream::links), predicted(), measured()));
  EXPECT_EQ(picture.lanes(),
            "localhost/cpu0, compute predicted\n"
            "localhost/cpu0, compute measured\n"
            "localhost/cpu0, parameter sync predicted\n"
            "localhost/cpu0, parameter sync measured\n"
            "localhost/cpu0, statistics predicted\n"
            "localhost/cpu0, statistics measured\n"
            "localhost/cpu1, compute predicted\n"
            "localhost/cpu1, compute measured\n"
            "localhost/cpu1, parameter sync predicted\n"
            "localhost/cpu1, parameter sync measured\n"
            "localhost/cpu1, statistics predicted\n"
            "localhost/cpu1, statistics measured\n"
            "localhost/cpu1, arriving 0 predicted\n"
            "localhost/cpu1, arriving 0 measured\n");
  EXPECT_EQ(picture.slices(),
            "localhost/cpu0, compute predicted: 0+4 a forward\n"
            "localhost/cpu0, compute measured: 0+6 a forward\n"
            "localhost/cpu1, compute predicted: 5+3 a forward\n"
            "localhost/cpu1, compute measured: 8+4 a forward\n"
            "localhost/cpu1, arriving 0 predicted: 4+1 a input\n"
            "localhost/cpu1, arriving 0 measured: 6+2 a input\n");
  EXPECT_EQ(picture.counters(),
            "localhost/cpu0, memory measured: 0:0\n"
            "localhost/cpu0, memory predicted: 0:0\n"
            "localhost/cpu1, memory measured: 0:0 6:16 12:0\n"
            "localhost/cpu1, memory predicted: 0:0 4:16 8:0\n"
            "links (bytes per second), cpu0>cpu1 predicted: 4:1000000000\n");
  EXPECT_EQ(picture.arrows(), 4U);
}

TEST(Trace, ADeviceWithoutACopyEngineIsOneLane) {
  const Picture picture(
      print_trace(network(), cpu_cluster(2), plan(Stream::device), predicted(), measured()));
  EXPECT_EQ(picture.slices(),
            "localhost/cpu0, compute predicted: 0+4 a forward\n"
            "localhost/cpu0, compute measured: 0+6 a forward\n"
            "localhost/cpu1, compute predicted: 4+1 a input 5+3 a forward\n"
            "localhost/cpu1, compute measured: 6+2 a input 8+4 a forward\n");
  EXPECT_EQ(picture.arrows(), 2U);  // on one lane the order shows it
}

// cpu0 sums half of both replicas' gradients, then fetches the other half.
TEST(Trace, ShowsSumsWithoutCopyEngines) {
  PlanBuilder builder(DType::fp32, 2);
  const std::uint32_t shape = builder.add_group_shape({{DeviceId(0), DeviceId(1)}, {}});
  Group sums;
  sums.shape = shape, sums.bytes = {64};
  const std::uint32_t group = builder.add_group(std::move(sums));
  Task task{
      .kind = TaskKind::reduce, .phase = Phase::update, .layer = LayerId(1), .device = DeviceId(0)};
  const TaskId sum = builder.join_group(group, task, {});
  builder.gather_group(group, task, {sum});
  const Timeline timeline(2, {span(0, 1), span(1, 3)});
  const Picture picture(
      print_trace(network(), cpu_cluster(2), std::move(builder).build(), timeline));
  EXPECT_EQ(picture.slices(), "localhost/cpu0, compute: 0+1 a sum 1+2 a gather sums\n");
}

}  // namespace
}  // namespace strata
