#include "exec/mpi/world.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "exec/mpi/check.h"
#include "sim/base/error.h"

namespace strata::mpi {
namespace {

constexpr int kClockRounds = 200, kClockTag = 0;

double local_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The counts of MPI-3 are ints.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 28;

template <class T>
void join_bits(std::span<T> values) {
  const MPI_Datatype bits = sizeof(T) == 4 ? MPI_UINT32_T : MPI_UINT64_T;
  for (; !values.empty(); values = values.subspan(std::min(kMostAtOnce, values.size()))) {
    const int count = static_cast<int>(std::min(kMostAtOnce, values.size()));
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), count, bits, MPI_BOR, MPI_COMM_WORLD));
  }
}

std::string_view library() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check(MPI_Get_library_version(text, &length));
  const std::string_view all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));  // "Open MPI v4.1.4"
}

}  // namespace

bool one_of_several() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::atoi(value) > 1) return true;
  }
  return false;
}

World::World() {
  int provided = 0, rank = 0, size = 1;
  // The device's thread talks while the main thread waits for it.
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (provided < MPI_THREAD_SERIALIZED) {
    throw EnvironmentError("this MPI lets no thread but the first talk (MPI_THREAD_SERIALIZED)");
  }
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  check(MPI_Comm_size(MPI_COMM_WORLD, &size));
  rank_ = static_cast<std::size_t>(rank);
  size_ = static_cast<std::size_t>(size);
  compare_clocks();
  find_places();
}

World::~World() {
  MPI_Finalize();
}

std::string World::description() const {
  return fmt::format("{} processes, {}, clocks within {:.1f} us", size_, library(),
                     clock_error_ * 1e6);
}

double World::now() const {
  return local_now() + offset_;
}

// One rank after the other, so that no two disturb one another.
void World::compare_clocks() {
  if (rank_ > 0) {
    follow_lead();
  } else {
    for (std::size_t rank = 1; rank < size_; ++rank) compare_with(static_cast<int>(rank));
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &clock_error_, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
}

// Cristian (1989): the other clock was read at some time within the round trip; its middle errs by
// half of it at most. The shortest round trip says it best.
void World::compare_with(int rank) {
  double shortest = std::numeric_limits<double>::infinity(), offset = 0;
  for (int round = 0; round < kClockRounds; ++round) {
    double theirs = 0;
    const double sent = local_now();
    check(MPI_Send(&sent, 1, MPI_DOUBLE, rank, kClockTag, MPI_COMM_WORLD));
    check(MPI_Recv(&theirs, 1, MPI_DOUBLE, rank, kClockTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    const double arrived = local_now();
    if (arrived - sent >= shortest) continue;
    shortest = arrived - sent;
    offset = (sent + arrived) / 2 - theirs;
  }
  check(MPI_Send(&offset, 1, MPI_DOUBLE, rank, kClockTag, MPI_COMM_WORLD));
  clock_error_ = std::max(clock_error_, shortest / 2);
}

void World::follow_lead() {
  for (int round = 0; round < kClockRounds; ++round) {
    double theirs = 0;
    check(MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, kClockTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    const double mine = local_now();
    check(MPI_Send(&mine, 1, MPI_DOUBLE, 0, kClockTag, MPI_COMM_WORLD));
  }
  check(MPI_Recv(&offset_, 1, MPI_DOUBLE, 0, kClockTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

// A host is known by the lowest of its ranks, and counted where that stands among such.
void World::find_places() {
  MPI_Comm host = MPI_COMM_NULL;
  int local = 0;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  check(MPI_Comm_rank(host, &local));
  int lowest = static_cast<int>(rank_);
  check(MPI_Bcast(&lowest, 1, MPI_INT, 0, host));
  check(MPI_Comm_free(&host));
  const int own[2] = {lowest, local};
  std::vector<int> all(2 * size_);
  check(MPI_Allgather(own, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD));
  std::map<int, std::size_t> hosts;  // by lowest rank
  for (std::size_t rank = 0; rank < size_; ++rank) hosts.try_emplace(all[2 * rank], hosts.size());
  for (std::size_t rank = 0; rank < size_; ++rank) {
    places_.push_back({hosts.at(all[2 * rank]), static_cast<std::size_t>(all[2 * rank + 1])});
  }
}

void World::merge(std::span<float> values) const {
  join_bits(values);
}

void World::merge(std::span<double> values) const {
  join_bits(values);
}

void World::merge(std::span<std::int64_t> values) const {
  join_bits(values);
}

void World::add(std::span<std::int64_t> values) const {
  check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                      MPI_SUM, MPI_COMM_WORLD));
}

bool World::any(bool value) const {
  int result = value ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  return result != 0;
}

double World::of_lead(double value) const {
  check(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  return value;
}

World::Failure World::settle(int exit_code) {
  settled_ = true;
  std::vector<int> codes(size_);
  check(MPI_Allgather(&exit_code, 1, MPI_INT, codes.data(), 1, MPI_INT, MPI_COMM_WORLD));
  for (std::size_t rank = 0; rank < size_; ++rank) {
    if (codes[rank] != 0) return {rank, codes[rank]};
  }
  return {};
}

void World::abort(int exit_code) const {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // MPI_Abort comes back only where it failed
}

}  // namespace strata::mpi
