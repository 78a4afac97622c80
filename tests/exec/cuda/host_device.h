#pragma once

// A host that stands for GPUs: memory of the host's, and streams whose work is done when somebody
// waits for it, in any order that streams and events allow, drawn anew each time. Work that forgot
// to wait for another stream's is sooner or later done too early, so a test that passes in many
// orders says something of the waits. Not thread-safe.

#include <cstddef>
#include <cstdint>

namespace strata::cuda::host {

/// All that follows draws from this seed.
void draw_orders_from(std::uint64_t seed);
/// How many GPUs gpus() tells of: 0 or more.
void set_gpus(int count);
/// Bytes that each GPU has; what is taken now.
void set_memory(std::int64_t bytes);
std::int64_t memory_taken();
/// Events that a stream had to wait for, since the start.
std::size_t waits();

}  // namespace strata::cuda::host
