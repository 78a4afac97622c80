#include "tests/exec/cuda/overheads.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "exec/cuda/device/recording.h"
#include "exec/cuda/streams/gate.h"
#include "exec/cuda/tensor/noise.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::size_t kPairs = 200, kTimes = 9, kTries = 9;
constexpr int kTasks = 200;  // and twice as many

// Kernels of one value each, as near to nothing as a task comes.
class Tasks {
 public:
  explicit Tasks(Stream& stream) : stream_(stream), value_(stream.gpu(), sizeof(float)) {}
  void put(int tasks) {
    for (int i = 0; i < tasks; ++i) fill_with_noise(value_.data(), 1, Type::fp32, stream_);
  }
  std::unique_ptr<Recorded> record(int tasks) {
    stream_.finish();
    Recording recording(stream_);
    put(tasks);
    return std::make_unique<Recorded>(recording.end());
  }

 private:
  Stream& stream_;
  LastingMemory value_;
};

/// On the GPU, and how long the host was busy asking for it.
struct Took {
  Seconds gpu, host;
};

// Until the stream began when all was asked for, and has ended. Else what is measured is the host.
void ask_held(Stream& stream, const std::function<void()>& ask) {
  for (std::size_t tried = 0; tried < kTries; ++tried) {
    Gate gate;
    gate.close(stream);
    ask();
    gate.open();
    stream.finish();
    if (!gate.gave_up()) return;
  }
  throw EnvironmentError("no stream can be held until the host has asked for its work");
}

// The median of some.
Took time_of(Stream& stream, const std::function<void()>& ask) {
  std::vector<Seconds> gpu, host;
  for (std::size_t i = 0; i < kTimes; ++i) {
    Event begin(stream.gpu(), EventKind::time), end(stream.gpu(), EventKind::time);
    Seconds asked;
    ask_held(stream, [&] {
      begin.record(stream);
      const Seconds before = now();
      ask();
      asked = now() - before;
      end.record(stream);
    });
    host.push_back(asked);
    gpu.push_back(end.since(begin));
  }
  return {seen(std::move(gpu)).median, seen(std::move(host)).median};
}

Chain line_through(Took one, Took two) {
  return {(two.gpu - one.gpu) / kTasks, one.gpu * 2 - two.gpu, (two.host - one.host) / kTasks};
}

Seconds copy_time(Stream& stream, void* to, const void* from, std::int64_t bytes) {
  std::vector<Seconds> times;
  for (std::size_t i = 0; i < kTimes; ++i) {
    const Seconds before = now();
    copy(to, from, bytes, stream);
    stream.finish();
    times.push_back(now() - before);
  }
  return seen(std::move(times)).median;
}

nlohmann::ordered_json json_of(const Chain& chain) {
  return {{"seconds_per_task", chain.each.value},
          {"begin_seconds", chain.begin.value},
          {"host_seconds_per_task", chain.asked.value}};
}

}  // namespace

Seen seen(std::vector<Seconds> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

Seen empty_pair(Stream& stream) {
  std::vector<Event> marks;
  for (std::size_t i = 0; i < 2 * kPairs; ++i) marks.emplace_back(stream.gpu(), EventKind::time);
  ask_held(stream, [&] {
    for (Event& mark : marks) mark.record(stream);
  });
  std::vector<Seconds> pairs;
  for (std::size_t i = 0; i < marks.size(); i += 2) pairs.push_back(marks[i + 1].since(marks[i]));
  return seen(std::move(pairs));
}

Chain launched_chain(Stream& stream) {
  Tasks tasks(stream);
  tasks.put(1);  // a kernel's first launch may wait for the GPU, which is held later
  stream.finish();
  const Took one = time_of(stream, [&] { tasks.put(kTasks); });
  return line_through(one, time_of(stream, [&] { tasks.put(2 * kTasks); }));
}

Chain recorded_chain(Stream& stream) {
  Tasks tasks(stream);
  const auto one = tasks.record(kTasks), two = tasks.record(2 * kTasks);
  one->play(stream), two->play(stream);  // the first playing of each does more
  stream.finish();
  const Took of_one = time_of(stream, [&] { one->play(stream); });
  return line_through(of_one, time_of(stream, [&] { two->play(stream); }));
}

std::vector<CopyTime> copy_times(Stream& stream, const std::vector<std::int64_t>& sizes) {
  std::vector<CopyTime> all;
  for (std::int64_t bytes : sizes) {
    const LastingMemory gpu(stream.gpu(), bytes);
    const std::shared_ptr<void> pinned = host_memory(bytes);
    std::vector<char> pageable(static_cast<std::size_t>(bytes), 1);
    for (HostMemoryKind kind : {HostMemoryKind::pinned, HostMemoryKind::pageable}) {
      void* const host = kind == HostMemoryKind::pinned ? pinned.get() : pageable.data();
      all.push_back({kind, true, bytes, copy_time(stream, gpu.data(), host, bytes)});
      all.push_back({kind, false, bytes, copy_time(stream, host, gpu.data(), bytes)});
    }
  }
  return all;
}

nlohmann::ordered_json stream_overheads(Stream& stream, const std::vector<std::int64_t>& sizes) {
  const Seen pair = empty_pair(stream);
  nlohmann::ordered_json copies = nlohmann::ordered_json::array();
  for (const CopyTime& one : copy_times(stream, sizes)) {
    copies.push_back({{"host", one.host == HostMemoryKind::pinned ? "pinned" : "pageable"},
                      {"to_gpu", one.to_gpu},
                      {"bytes", one.bytes},
                      {"seconds", one.seconds.value}});
  }
  return {{"empty_event_pair",
           {{"median_seconds", pair.median.value},
            {"least_seconds", pair.least.value},
            {"most_seconds", pair.most.value}}},
          {"launched_chain", json_of(launched_chain(stream))},
          {"recorded_chain", json_of(recorded_chain(stream))},
          {"copies", copies}};
}

}  // namespace strata::cuda
