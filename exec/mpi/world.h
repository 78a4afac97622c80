#pragma once

// This process among those that mpirun started, as Ranks. There is one World in a process, from its
// beginning to its end. Functions marked "all", and those of Ranks but rank(), size() and now(),
// must be called by every rank, in one order.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/runtime/ranks.h"

namespace strata::mpi {

/// Whether mpirun (or another starter) put this process beside others.
bool one_of_several();

class World : public Ranks {
 public:
  /// All. Starts MPI and compares the clocks. Throws EnvironmentError.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// All.
  ~World() override;

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  /// "4 processes, Open MPI 4.1.4, clocks within 0.3 us".
  std::string description() const;

  /// By rank.
  std::span<const RankPlace> places() const { return places_; }

  /// Right to what description() says.
  double now() const override;

  void merge(std::span<float> values) const override;
  void merge(std::span<double> values) const override;
  void merge(std::span<std::int64_t> values) const override;
  void add(std::span<std::int64_t> values) const override;
  bool any(bool value) const override;
  double of_lead(double value) const override;

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
  void find_places();
  void compare_with(int rank);

  std::size_t rank_ = 0, size_ = 1;
  double offset_ = 0, clock_error_ = 0;
  bool settled_ = false;
  std::vector<RankPlace> places_;  // by rank
};

}  // namespace strata::mpi
