#pragma once

// This process among those that mpirun started for one run: alone in a plain start. A main program
// makes one before it does anything and ends through it, so that all processes end alike.

#include <functional>
#include <memory>
#include <string>

#include "sim/base/error.h"

namespace strata {

namespace mpi {
class World;
}

/// Whether this build can be one of several processes.
bool has_mpi();

/// Before a run began, another process failed and said why; this one ends like it, silently.
class PeerFailed : public Error {
 public:
  PeerFailed(std::size_t rank, int exit_code)
      : Error("rank " + std::to_string(rank) + " failed"), exit_code_(exit_code) {}
  int exit_code() const override { return exit_code_; }

 private:
  int exit_code_;
};

class Processes {
 public:
  /// Meets the others. Throws EnvironmentError; where there are others and this build has no MPI,
  /// too.
  Processes();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Whether this one writes what the run has to say.
  bool leads() const;
  /// Null for one process.
  mpi::World* world() const { return world_.get(); }

  /// The exit code of a process that did what it was asked, or failed with `exit_code`, while the
  /// others do not wait for it: that of the first that failed before a run began.
  int end(int exit_code) const;
  /// The exit code after an error. Before a run has begun, all tell one another, and the first that
  /// failed complains; later, others wait for this one, so it complains and ends all of them.
  int fail(int exit_code, const std::function<void()>& complain) const;

 private:
  std::unique_ptr<mpi::World> world_;
};

}  // namespace strata
