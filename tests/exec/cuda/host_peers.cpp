// Peers on the host that stands for GPUs: streams of one process, or of threads that stand for
// several, meet. What all of them brought is then worked on once. Whoever comes in another order
// than its peers waits for ever, which the host notices.

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "exec/cuda/peers/peers.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

/// What one stream brings to a meeting.
struct Brought {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
};

/// What several do together: their parts by place, and the meeting of their streams.
struct Gathering {
  std::vector<Brought> parts;
  std::size_t missing = 0;
  std::shared_ptr<host::Meeting> meeting = std::make_shared<host::Meeting>();
};

/// Which gathering: of the set with this id, among whom of it, the how manieth of those.
struct Occasion {
  std::int64_t id = 0;
  std::pair<std::size_t, std::size_t> among;  ///< sender, receiver; equal for all of the set
  std::uint64_t number = 0;
  auto operator<=>(const Occasion&) const = default;
};

// Of all processes, which are threads here.
struct Everybody {
  std::mutex mutex;
  std::int64_t ids = 0;
  std::map<Occasion, std::shared_ptr<Gathering>> open;
};

Everybody& everybody() {
  static Everybody one;
  return one;
}

using Act = std::function<void(const std::vector<Brought>&)>;

void come(const Occasion& occasion, std::size_t places, std::size_t place, const Brought& part,
          Stream& stream, const Act& act) {
  const std::lock_guard lock(everybody().mutex);
  std::shared_ptr<Gathering>& at = everybody().open[occasion];
  if (!at) {
    at = std::make_shared<Gathering>();
    at->parts.resize(places), at->missing = places;
    at->meeting->expected = places;
  }
  const std::shared_ptr<Gathering> gathering = at;
  gathering->parts[place] = part;
  if (--gathering->missing == 0) {
    gathering->meeting->work = [act, parts = gathering->parts] { act(parts); };
    everybody().open.erase(occasion);
  }
  host::meet(stream, gathering->meeting);
}

void add_up(const std::vector<Brought>& parts) {
  const std::int64_t count = parts.front().bytes / static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (const Brought& part : parts) sum += static_cast<const float*>(part.from)[i];
    for (const Brought& part : parts) static_cast<float*>(part.to)[i] = sum;
  }
}

void put_side_by_side(const std::vector<Brought>& parts) {
  for (const Brought& to : parts) {
    auto* at = static_cast<std::byte*>(to.to);
    for (const Brought& part : parts) {
      std::memcpy(at, part.from, static_cast<std::size_t>(part.bytes));
      at += part.bytes;
    }
  }
}

Act scattering(std::vector<Interval> intervals) {
  return [intervals = std::move(intervals)](const std::vector<Brought>& parts) {
    std::vector<std::vector<float>> sums;  // parts may lie in what is summed
    for (const Interval& own : intervals) {
      std::vector<float>& sum = sums.emplace_back(static_cast<std::size_t>(own.size()));
      for (std::int64_t i = 0; i < own.size(); ++i) {
        for (const Brought& part : parts) {
          sum[static_cast<std::size_t>(i)] += static_cast<const float*>(part.from)[own.begin + i];
        }
      }
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      std::copy(sums[k].begin(), sums[k].end(), static_cast<float*>(parts[k].to));
    }
  };
}

Act gathering(std::vector<Interval> intervals) {
  return [intervals = std::move(intervals)](const std::vector<Brought>& parts) {
    for (const Brought& to : parts) {
      for (std::size_t k = 0; k < parts.size(); ++k) {
        float* const at = static_cast<float*>(to.to) + intervals[k].begin;
        if (at == parts[k].from) continue;
        std::copy_n(static_cast<const float*>(parts[k].from), intervals[k].size(), at);
      }
    }
  };
}

void hand_over(const std::vector<Brought>& parts) {
  if (parts[0].bytes != parts[1].bytes) throw InternalError("more was sent than is received");
  std::memcpy(parts[1].to, parts[0].from, static_cast<std::size_t>(parts[0].bytes));
}

std::size_t place_in(const DeviceSet& set, DeviceId device) {
  return static_cast<std::size_t>(std::find(set.begin(), set.end(), device) - set.begin());
}

}  // namespace

struct Peers::Body {
  const Ranks* ranks;
  std::map<DeviceSet, std::int64_t> ids;
  std::map<std::pair<DeviceId, std::pair<std::int64_t, std::pair<std::size_t, std::size_t>>>,
           std::uint64_t>
      numbers;

  DeviceId own() const { return DeviceId(ranks->rank()); }
  Occasion next(DeviceId device, const DeviceSet& set,
                std::pair<std::size_t, std::size_t> among = {}) {
    const std::int64_t id = ids.at(set);
    return {id, among, ++numbers[{device, {id, among}}]};
  }
  void together(const DeviceSet& set, const PeerPart& part, void* to, std::int64_t count,
                const Act& act) {
    const Brought brought{part.values, to, count * static_cast<std::int64_t>(sizeof(float))};
    come(next(part.device, set), set.size(), place_in(set, part.device), brought, *part.stream,
         act);
  }
};

Peers::Peers(std::span<const int>, const Ranks* ranks)
    : body_(std::make_unique<Body>(Body{ranks, {}, {}})) {}

Peers::~Peers() = default;

void Peers::meet(const DeviceSet& set) {
  if (body_->ids.contains(set)) return;
  std::int64_t id = 0;
  if (body_->ranks == nullptr || body_->own() == set.front()) {
    const std::lock_guard lock(everybody().mutex);
    id = ++everybody().ids;
  }
  if (body_->ranks != nullptr) body_->ranks->merge(std::span(&id, 1));
  body_->ids[set] = id;
}

void Peers::sum(const DeviceSet& set, std::span<const PeerPart> parts, std::int64_t count) {
  for (const PeerPart& part : parts) body_->together(set, part, part.values, count, add_up);
}

void Peers::gather(const DeviceSet& set, std::span<const PeerPart> parts, std::int64_t count) {
  for (const PeerPart& part : parts) body_->together(set, part, part.all, count, put_side_by_side);
}

void Peers::scatter(const DeviceSet& set, std::span<const PeerPart> parts,
                    std::span<const Interval> intervals) {
  const Act act = scattering({intervals.begin(), intervals.end()});
  for (const PeerPart& part : parts) {
    body_->together(set, part, part.all, intervals.back().end, act);
  }
}

void Peers::gather_parts(const DeviceSet& set, std::span<const PeerPart> parts,
                         std::span<const Interval> intervals) {
  const Act act = gathering({intervals.begin(), intervals.end()});
  for (const PeerPart& part : parts) {
    body_->together(set, part, part.all, intervals[place_in(set, part.device)].size(), act);
  }
}

void Peers::send(const DeviceSet& set, DeviceId to, const void* from, std::int64_t bytes,
                 Stream& stream) {
  const std::pair among{place_in(set, body_->own()), place_in(set, to)};
  come(body_->next(body_->own(), set, among), 2, 0, {from, nullptr, bytes}, stream, hand_over);
}

void Peers::receive(const DeviceSet& set, DeviceId from, void* to, std::int64_t bytes,
                    Stream& stream) {
  const std::pair among{place_in(set, from), place_in(set, body_->own())};
  come(body_->next(body_->own(), set, among), 2, 1, {nullptr, to, bytes}, stream, hand_over);
}

void Peers::check() {}

// The host notices by itself who waits for ever.
void Peers::abandon() noexcept {}

}  // namespace strata::cuda
