#pragma once

// Processes that work on one plan, a device each: which of them this one is, one clock for all, and
// what all of them do together. Every rank makes the same calls in one order. Of the threads that
// use it, one calls at a time.

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata {

/// On which host a rank is, counted from 0, and the how manieth of that host's ranks.
struct RankPlace {
  std::size_t host = 0, local = 0;
  bool operator==(const RankPlace&) const = default;
};

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// Seconds on rank 0's clock.
  virtual double now() const = 0;

  /// Every value becomes the one that some rank has, where the others have zero (or the same): bits
  /// are joined, so that nothing is rounded.
  virtual void merge(std::span<float> values) const = 0;
  virtual void merge(std::span<double> values) const = 0;
  virtual void merge(std::span<std::int64_t> values) const = 0;
  virtual void add(std::span<std::int64_t> values) const = 0;
  virtual bool any(bool value) const = 0;
  /// Rank 0's value.
  virtual double of_lead(double value) const = 0;
};

}  // namespace strata
