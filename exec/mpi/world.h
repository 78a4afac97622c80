#pragma once

// This process among those that mpirun started: its rank, one clock for all, and what all of them
// do together. There is one World in a process, from its beginning to its end; of the threads that
// use it, one calls at a time. Functions marked "all" must be called by every rank, in one order.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace strata::mpi {

/// Whether mpirun (or another starter) put this process beside others.
bool one_of_several();

class World {
 public:
  /// All. Starts MPI and compares the clocks. Throws EnvironmentError.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// All.
  ~World();

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }
  /// "4 processes, Open MPI 4.1.4, clocks within 0.3 us".
  std::string description() const;

  /// Seconds on rank 0's clock; right to clock_error().
  double now() const;
  double clock_error() const { return clock_error_; }

  /// All. Every value becomes the one that some rank has, where the others have zero (or the
  /// same): bits are joined, so that nothing is rounded.
  void merge(std::span<float> values) const;
  void merge(std::span<double> values) const;
  void merge(std::span<std::int64_t> values) const;
  /// All.
  void add(std::span<std::int64_t> values) const;
  bool any(bool value) const;
  /// All. Rank 0's value.
  double of_lead(double value) const;

  struct Failure {
    std::size_t rank = 0;
    int exit_code = 0;
  };
  /// All, once. Each says whether it could begin (0) or with which code it failed; returns the
  /// failure of the lowest rank, code 0 where there is none.
  Failure settle(int exit_code);
  bool settled() const { return settled_; }

  /// Ends all ranks.
  [[noreturn]] void abort(int exit_code) const;

 private:
  void compare_clocks();
  void follow_lead();
  void compare_with(int rank);

  std::size_t rank_ = 0, size_ = 1;
  double offset_ = 0, clock_error_ = 0;
  bool settled_ = false;
};

}  // namespace strata::mpi
