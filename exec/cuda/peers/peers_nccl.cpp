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
