#pragma once

// How a device's thread that has a core to itself waits for others: waking a thread takes tens of
// microseconds, as long as a small task, so it first looks for a while whether its turn comes, and
// then sleeps. A run's threads and those that are measured wait alike, since a thread that slept
// gets its core back at once from whatever else runs there, and one that looks does not.
// Thread-safe.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace strata {

/// How long a wait looks before it sleeps.
inline constexpr auto kSoon = std::chrono::milliseconds(5);

/// Keeps the core until the number is another one than was seen. Whether it is; false at `until`.
bool spin_while(const std::atomic<std::uint32_t>& number, std::uint32_t seen,
                std::chrono::steady_clock::time_point until);

}  // namespace strata
