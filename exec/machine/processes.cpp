#include "exec/machine/processes.h"

#include <cstdio>
#include <cstdlib>

#include "sim/base/error.h"

#ifdef STRATA_MPI
#include "exec/mpi/world.h"
#endif

namespace strata {

#ifdef STRATA_MPI

bool has_mpi() {
  return true;
}

Processes::Processes() {
  if (mpi::one_of_several()) world_ = std::make_unique<mpi::World>();
}

bool Processes::leads() const {
  return !world_ || world_->rank() == 0;
}

int Processes::end(int exit_code) const {
  if (!world_ || world_->settled()) return exit_code;
  return world_->settle(exit_code).exit_code;
}

int Processes::fail(int exit_code, const std::function<void()>& complain) const {
  if (world_ && !world_->settled()) {
    const mpi::World::Failure first = world_->settle(exit_code);
    if (first.rank == world_->rank()) complain();
    return first.exit_code;
  }
  complain();
  if (!world_) return exit_code;
  std::fflush(nullptr);
  world_->abort(exit_code);
}

#else

namespace mpi {
class World {};
}  // namespace mpi

bool has_mpi() {
  return false;
}

Processes::Processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || std::atoi(value) < 2) continue;
    throw EnvironmentError(
        "started as one of several processes, but built without MPI (libopenmpi-dev)");
  }
}

bool Processes::leads() const {
  return true;
}

int Processes::end(int exit_code) const {
  return exit_code;
}

int Processes::fail(int exit_code, const std::function<void()>& complain) const {
  complain();
  return exit_code;
}

#endif

Processes::~Processes() = default;

}  // namespace strata
