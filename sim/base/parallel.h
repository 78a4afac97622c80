#pragma once

// Independent pieces of work over the machine's cores. The pieces are handed out as workers become
// free; what they compute must not depend on who does it, so that results are equal to the bit for
// every thread count.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace strata {

/// The cores of this machine; at least 1.
inline unsigned core_count() {
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Calls work(piece, worker) for every piece in [0, pieces), `worker` in [0, threads): a place for
/// scratch memory. 0 threads: as many as there are cores. Throws what a piece threw, the first
/// seen; the remaining pieces are then left out.
template <class Work>
void parallel_for(std::size_t pieces, unsigned threads, const Work& work) {
  if (threads == 0) threads = core_count();
  threads = static_cast<unsigned>(std::min<std::size_t>(threads, pieces));
  if (threads <= 1) {
    for (std::size_t piece = 0; piece < pieces; ++piece) work(piece, 0u);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  const auto run = [&](unsigned worker) {
    try {
      for (std::size_t piece = next++; piece < pieces; piece = next++) work(piece, worker);
    } catch (...) {
      next = pieces;
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> crew;
    crew.reserve(threads - 1);
    for (unsigned worker = 1; worker < threads; ++worker) crew.emplace_back(run, worker);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace strata
