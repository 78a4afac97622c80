#include "exec/mpi/messages.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "exec/mpi/check.h"
#include "sim/base/error.h"

namespace strata::mpi {
namespace {

// Sender and receiver know a message by its task. A task follows itself on every rank, so that two
// steps' messages can be under way at once and no more.
int tag_of(Turn turn) {
  return static_cast<int>(2 * turn.task() + turn.step % 2);
}

std::size_t largest_tag() {
  void* value = nullptr;
  int known = 0;
  check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &known));
  return known != 0 ? static_cast<std::size_t>(*static_cast<int*>(value)) : 32767;
}

}  // namespace

Messages::Messages(std::size_t tasks) {
  if (2 * tasks <= largest_tag()) return;
  throw EnvironmentError(fmt::format(
      "a plan of {} tasks is too large for this MPI, whose tags end at {}", tasks, largest_tag()));
}

Messages::~Messages() {
  for (Message& message : open_) static_cast<void>(message.staging.values.release());
}

Staging Messages::take(std::size_t size) {
  const auto at = spare_.lower_bound(size);
  // A message of a few values is no use for a large block.
  if (at != spare_.end() && at->first <= 2 * size + 1024) {
    Staging staging = std::move(at->second);
    spare_.erase(at);
    staging.size = size;
    return staging;
  }
  return {std::make_unique_for_overwrite<float[]>(size), size, size};
}

void Messages::give_back(Staging staging) {
  const std::size_t capacity = staging.capacity;
  spare_.emplace(capacity, std::move(staging));
}

void Messages::begin(Message message) {
  if (message.staging.size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw EnvironmentError("a message of 8 GiB or more is too large for MPI");
  }
  const int count = static_cast<int>(message.staging.size);
  const int peer = static_cast<int>(message.peer()), tag = tag_of(message.turn);
  float* values = message.staging.values.get();
  MPI_Request request = MPI_REQUEST_NULL;
  check(message.sent ? MPI_Isend(values, count, MPI_FLOAT, peer, tag, MPI_COMM_WORLD, &request)
                     : MPI_Irecv(values, count, MPI_FLOAT, peer, tag, MPI_COMM_WORLD, &request));
  open_.push_back(std::move(message));
  requests_.push_back(request);
}

bool Messages::progress(const std::function<void(Message)>& ended) {
  if (open_.empty()) return false;
  int count = 0;
  ended_.resize(open_.size());
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, ended_.data(),
                     MPI_STATUSES_IGNORE));
  if (count <= 0) return false;
  std::vector<int> places(ended_.begin(), ended_.begin() + count);
  std::vector<Message> done;
  done.reserve(places.size());
  for (int at : places) done.push_back(std::move(open_[static_cast<std::size_t>(at)]));
  std::sort(places.rbegin(), places.rend());
  for (int at : places) {
    open_.erase(open_.begin() + at);
    requests_.erase(requests_.begin() + at);
  }
  for (Message& message : done) ended(std::move(message));
  return true;
}

}  // namespace strata::mpi
