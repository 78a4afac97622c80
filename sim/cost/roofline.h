#pragma once

// The time of a kernel from a device kind's constants: the larger of its arithmetic and its
// memory traffic, each at what the efficiency model leaves of the peak (docs/profiles.md, "The
// efficiency model"). Never above a peak; grows with every extent. Immutable; thread-safe.

#include <array>

#include "sim/cost/work.h"
#include "sim/profile/profile.h"

namespace strata {

class Roofline {
 public:
  explicit Roofline(const Profile& profile);

  /// 0 for no work.
  Seconds operator()(const PhaseWork& work, DType dtype) const;

 private:
  struct Arithmetic {
    double peak = 0;          ///< operations a second
    bool cuda_cores = false;  ///< as fp32 does; Winograd and direct kernels are for these
  };

  double arithmetic(const PhaseWork& work, const Arithmetic& unit) const;
  double product(const Gemm& gemm, double peak) const;

  std::array<Arithmetic, kDTypeNames.size()> units_;
  double launch_, bandwidth_;
  double gemm_, winograd_, direct_;
  double half_tile_, half_depth_, split_k_, cores_;
  std::int64_t tile_m_, tile_n_;
};

}  // namespace strata
