#pragma once

// What a GPU and its libraries take for things that a prediction has no row for: marking a time,
// beginning a task that does next to nothing, copies of the host's pageable memory, the first use
// of a library. Measured once on each machine (scripts/gpu-check), and by the same sources on the
// host that stands for GPUs. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "exec/cuda/products/products.h"
#include "exec/cuda/streams/seat.h"

namespace strata::cuda {

/// The values that were seen.
struct Seen {
  Seconds median, least, most;
};
Seen seen(std::vector<Seconds> values);

/// From one event to the next, with nothing between. This and what follows throw EnvironmentError
/// where the stream never waits until the host has asked for all.
Seen empty_pair(Stream& stream);

/// Of a chain of tasks that do next to nothing: line through two lengths.
struct Chain {
  Seconds each, begin;  ///< of a task, on the GPU; what comes once
  Seconds asked;        ///< the host's for each task
};
/// One launch after another, all in the queue before the first begins.
Chain launched_chain(Stream& stream);
/// Played from a recording.
Chain recorded_chain(Stream& stream);

enum class HostMemoryKind : std::uint8_t { pinned, pageable };

struct CopyTime {
  HostMemoryKind host = HostMemoryKind::pinned;
  bool to_gpu = true;
  std::int64_t bytes = 0;
  Seconds seconds;  ///< until the host knows that it is done, the median
};
/// `sizes`: in bytes.
std::vector<CopyTime> copy_times(Stream& stream, const std::vector<std::int64_t>& sizes);

/// All of these.
nlohmann::ordered_json stream_overheads(Stream& stream, const std::vector<std::int64_t>& sizes);

/// Of the libraries, in the seat's precision: each direction of a convolution asked for, planned
/// with the first of their engines that takes it, "engine": null where none does, run twice; a
/// product of matrices twice.
nlohmann::ordered_json library_overheads(Seat& seat);

}  // namespace strata::cuda
