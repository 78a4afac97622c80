#include "sim/case/training.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

std::int64_t batch_of(const Training& training, std::size_t devices) {
  if (training.batch) return *training.batch;
  std::int64_t batch = 0;
  const auto count = static_cast<std::int64_t>(devices);
  if (!__builtin_mul_overflow(training.batch_per_device, count, &batch)) return batch;
  throw InputError(fmt::format("a batch of {} for each of {} devices is too large",
                               training.batch_per_device, devices));
}

}  // namespace strata
