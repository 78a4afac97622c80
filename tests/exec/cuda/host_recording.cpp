// Recordings on the host that stands for GPUs: what queues would have held is kept, and played by
// queues of its own, in any order that its events allow. What CUDA forbids while streams are
// recorded is an error here, too.

#include <map>

#include "exec/cuda/device/recording.h"
#include "tests/exec/cuda/host_queues.h"

namespace strata::cuda {

using host::Host;
using host::locked;
using host::Meeting;
using host::Queue;
using host::queue_of;
using host::Tape;
using host::the_host;
using host::Work;

namespace {

void stop(Tape& tape) {
  tape.over = true;
  for (const Tape::Track& track : tape.tracks) track.of->tape = nullptr;
}

// Stricter than CUDA, which is content with being waited for by way of others.
bool is_joined(const Tape& tape, const Tape::Track& track) {
  const std::vector<Work>& first = tape.tracks.front().work;
  const std::uint64_t end = track.work.empty() ? 0 : track.work.back().makes;
  return end != 0 && std::any_of(first.begin(), first.end(),
                                 [end](const Work& work) { return work.awaited == end; });
}

/// One playing of a tape: its points and its meetings are new.
class Playing {
 public:
  explicit Playing(const Tape& tape) : tape_(tape) {}

  void put_on(Queue& queue) {
    Host& host = the_host();
    std::erase_if(host.played, [&host](const std::unique_ptr<Queue>& one) {
      return one->work.empty() && host.queues.erase(one.get()) > 0;
    });
    const std::uint64_t start = host.point_in(queue), end = ++host.points;
    for (std::size_t i = 0; i < tape_.tracks.size(); ++i) {
      auto& played = host.played.emplace_back(std::make_unique<Queue>());
      played->gpu = tape_.tracks[i].of->gpu;
      played->work.push_back({{}, start, 0});
      for (const Work& work : tape_.tracks[i].work) played->work.push_back(again(work));
      if (i == 0) played->work.push_back({{}, 0, end});
      host.queues.insert(played.get());
    }
    host.put(queue, {{}, end, 0});
  }

 private:
  Work again(Work work) {
    if (work.awaited != 0) work.awaited = point(work.awaited);
    if (work.makes != 0) work.makes = point(work.makes);
    if (work.meeting) work.meeting = meeting(*work.meeting);
    return work;
  }
  std::uint64_t point(std::uint64_t recorded) {
    const auto [at, is_new] = points_.emplace(recorded, 0);
    if (is_new) at->second = ++the_host().points;
    return at->second;
  }
  std::shared_ptr<Meeting> meeting(const Meeting& recorded) {
    auto& held = meetings_[&recorded];
    if (!held) held = std::make_shared<Meeting>(recorded);
    return held;
  }

  const Tape& tape_;
  std::map<std::uint64_t, std::uint64_t> points_;
  std::map<const Meeting*, std::shared_ptr<Meeting>> meetings_;
};

}  // namespace

Recording::Recording(Stream& first) : first_(first) {
  const auto lock = locked();
  Queue& queue = queue_of(first);
  the_host().check(queue, host::Refused::recording, "beginning to record");
  if (queue.tape) throw EnvironmentError("a stream is recorded twice");
  queue.tape = std::make_shared<Tape>();
  queue.tape->tracks.push_back({&queue, {}});
}

Recording::~Recording() {
  const auto lock = locked();
  if (under_way_) stop(*std::shared_ptr(queue_of(first_).tape));
}

Recorded Recording::end() {
  const auto lock = locked();
  const std::shared_ptr<Tape> tape = queue_of(first_).tape;
  under_way_ = false;
  stop(*tape);
  for (std::size_t i = 1; i < tape->tracks.size(); ++i) {
    if (!is_joined(*tape, tape->tracks[i])) {
      throw EnvironmentError("a recorded stream is not waited for");
    }
  }
  ++the_host().recordings;
  return Recorded(tape);
}

void Recorded::play(Stream& stream) {
  const auto lock = locked();
  Playing(*static_cast<Tape*>(body_.get())).put_on(queue_of(stream));
}

}  // namespace strata::cuda
