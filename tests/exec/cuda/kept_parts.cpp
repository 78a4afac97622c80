#include "tests/exec/cuda/kept_parts.h"

#include <map>

#include "exec/cuda/run/part_trial.h"

namespace strata::cuda {

const GpuParts& kept_parts(const std::vector<int>& gpus) {
  static std::map<std::vector<int>, GpuParts> kept;
  auto at = kept.find(gpus);
  if (at == kept.end()) at = kept.emplace(gpus, tried_parts(gpus)).first;
  return at->second;
}

}  // namespace strata::cuda
