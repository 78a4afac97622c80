#pragma once

// A device kind of round numbers: 1 TFLOP/s, of which matrix products reach half; 100 GB/s, of
// which streaming reaches half; 10 us a kernel; 10 cores with tiles of 100 x 100.

#include "sim/profile/profile.h"

namespace strata {

inline Profile toy_profile() {
  Profile p;
  p.kind = "toy";
  p.memory_capacity.value = {1'000'000'000};
  p.bandwidth.value = {100e9};
  p.peaks[0] = Sourced<FlopsPerSecond>{{1e12}, ""};
  Efficiency& e = p.efficiency;
  e.launch.value = {10e-6};
  e.memory.value = e.gemm.value = 0.5;
  e.winograd.value = 1;
  e.direct.value = 0.1;
  e.tile_m.value = e.tile_n.value = 100;
  e.split_k.value = 200;
  e.cores.value = 10;
  return p;
}

}  // namespace strata
