#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/native.h"
#include "exec/cuda/peers/nccl.h"
#include "exec/cuda/peers/peers.h"

namespace strata::cuda {
namespace {

int place_in(const DeviceSet& set, DeviceId device) {
  return static_cast<int>(std::find(set.begin(), set.end(), device) - set.begin());
}

std::size_t size_of(const Interval& interval) {
  return static_cast<std::size_t>(interval.size());
}

bool are_equal(std::span<const Interval> intervals) {
  return std::all_of(intervals.begin(), intervals.end(), [&](const Interval& interval) {
    return interval.size() == intervals.front().size();
  });
}

}  // namespace

// A communicator of NCCL's for each set and each device of this process. `id`s are made by the
// process of a set's first device and reach the others over the ranks.
struct Peers::Body {
  using Communicators = std::map<DeviceId, ncclComm_t>;

  std::vector<int> gpus;  // by device
  const Ranks* ranks;
  Nccl nccl;
  std::map<DeviceSet, Communicators> met;

  Body(std::span<const int> gpus_of, const Ranks* with)
      : gpus(gpus_of.begin(), gpus_of.end()), ranks(with) {}
  // Destroying is done together; who unwinds may be the only one.
  ~Body() { leave(std::uncaught_exceptions() > 0 ? nccl.abort : nccl.destroy); }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  bool is_here(DeviceId device) const { return ranks == nullptr || ranks->rank() == device(); }
  ncclUniqueId id_of(const DeviceSet& set) const;
  void check_health(ncclComm_t communicator) const;
  void leave(decltype(ncclCommDestroy)* by);
};

void Peers::Body::leave(decltype(ncclCommDestroy)* by) {
  for (const auto& [set, communicators] : met) {
    for (const auto& [device, communicator] : communicators) by(communicator);
  }
  met.clear();
}

ncclUniqueId Peers::Body::id_of(const DeviceSet& set) const {
  ncclUniqueId id{};
  std::array<std::int64_t, sizeof id / sizeof(std::int64_t)> words{};
  static_assert(sizeof words == sizeof id);
  if (is_here(set.front())) nccl.check(nccl.unique_id(&id), "asking for an id");
  if (ranks == nullptr) return id;
  std::memcpy(words.data(), &id, sizeof id);
  ranks->merge(std::span<std::int64_t>(words));
  std::memcpy(&id, words.data(), sizeof id);
  return id;
}

void Peers::Body::check_health(ncclComm_t communicator) const {
  ncclResult_t status = ncclSuccess;
  nccl.check(nccl.async_error(communicator, &status), "asking for errors", communicator);
  if (status != ncclInProgress) nccl.check(status, "talking to peers", communicator);
}

Peers::Peers(std::span<const int> gpus, const Ranks* ranks)
    : body_(std::make_unique<Body>(gpus, ranks)) {}

Peers::~Peers() = default;

void Peers::meet(const DeviceSet& set) {
  if (body_->met.contains(set)) return;
  const Nccl& nccl = body_->nccl;
  const ncclUniqueId id = body_->id_of(set);
  Body::Communicators& communicators = body_->met[set];
  NcclGroup group(nccl);
  for (DeviceId device : set) {
    if (!body_->is_here(device)) continue;
    use_gpu(body_->gpus[device()]);
    nccl.check(
        nccl.join(&communicators[device], static_cast<int>(set.size()), id, place_in(set, device)),
        "meeting peers");
  }
  group.end("meeting peers");
}

void Peers::sum(const DeviceSet& set, std::span<const PeerPart> parts, std::int64_t count) {
  const Nccl& nccl = body_->nccl;
  NcclGroup group(nccl);
  for (const PeerPart& part : parts) {
    nccl.check(nccl.all_reduce(part.values, part.values, static_cast<std::size_t>(count), ncclFloat,
                               ncclSum, body_->met.at(set).at(part.device), native(*part.stream)),
               "summing over peers");
  }
  group.end("summing over peers");
}

void Peers::gather(const DeviceSet& set, std::span<const PeerPart> parts, std::int64_t count) {
  const Nccl& nccl = body_->nccl;
  NcclGroup group(nccl);
  for (const PeerPart& part : parts) {
    nccl.check(nccl.all_gather(part.values, part.all, static_cast<std::size_t>(count), ncclFloat,
                               body_->met.at(set).at(part.device), native(*part.stream)),
               "gathering from peers");
  }
  group.end("gathering from peers");
}

// Parts that differ in size go one by one, in one group.
void Peers::scatter(const DeviceSet& set, std::span<const PeerPart> parts,
                    std::span<const Interval> intervals) {
  const Nccl& nccl = body_->nccl;
  NcclGroup group(nccl);
  for (const PeerPart& part : parts) {
    ncclComm_t communicator = body_->met.at(set).at(part.device);
    if (are_equal(intervals)) {
      nccl.check(nccl.reduce_scatter(part.values, part.all, size_of(intervals.front()), ncclFloat,
                                     ncclSum, communicator, native(*part.stream)),
                 "summing over peers");
      continue;
    }
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      if (intervals[k].empty()) continue;
      float* const from = part.values + intervals[k].begin;
      float* const to = set[k] == part.device ? part.all : from;
      nccl.check(nccl.reduce(from, to, size_of(intervals[k]), ncclFloat, ncclSum,
                             static_cast<int>(k), communicator, native(*part.stream)),
                 "summing over peers");
    }
  }
  group.end("summing over peers");
}

void Peers::gather_parts(const DeviceSet& set, std::span<const PeerPart> parts,
                         std::span<const Interval> intervals) {
  const Nccl& nccl = body_->nccl;
  NcclGroup group(nccl);
  for (const PeerPart& part : parts) {
    ncclComm_t communicator = body_->met.at(set).at(part.device);
    if (are_equal(intervals)) {
      nccl.check(nccl.all_gather(part.values, part.all, size_of(intervals.front()), ncclFloat,
                                 communicator, native(*part.stream)),
                 "gathering from peers");
      continue;
    }
    for (std::size_t k = 0; k < intervals.size(); ++k) {
      if (intervals[k].empty()) continue;
      float* const to = part.all + intervals[k].begin;
      const float* const from = set[k] == part.device ? part.values : to;
      nccl.check(nccl.broadcast(from, to, size_of(intervals[k]), ncclFloat, static_cast<int>(k),
                                communicator, native(*part.stream)),
                 "gathering from peers");
    }
  }
  group.end("gathering from peers");
}

void Peers::send(const DeviceSet& set, DeviceId to, const void* from, std::int64_t bytes,
                 Stream& stream) {
  const auto& [device, communicator] = *body_->met.at(set).begin();
  body_->nccl.check(body_->nccl.send(from, static_cast<std::size_t>(bytes), ncclChar,
                                     place_in(set, to), communicator, native(stream)),
                    "sending to a peer");
}

void Peers::receive(const DeviceSet& set, DeviceId from, void* to, std::int64_t bytes,
                    Stream& stream) {
  const auto& [device, communicator] = *body_->met.at(set).begin();
  body_->nccl.check(body_->nccl.receive(to, static_cast<std::size_t>(bytes), ncclChar,
                                        place_in(set, from), communicator, native(stream)),
                    "receiving from a peer");
}

// What was asked of one that failed may never end: who aborts it lets its streams go on.
void Peers::check() try {
  for (const auto& [set, communicators] : body_->met) {
    for (const auto& [device, communicator] : communicators) body_->check_health(communicator);
  }
} catch (...) {
  abandon();
  throw;
}

void Peers::abandon() noexcept {
  body_->leave(body_->nccl.abort);
}

}  // namespace strata::cuda
