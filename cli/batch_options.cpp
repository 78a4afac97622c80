#include "cli/batch_options.h"

#include "cli/usage.h"

namespace strata {

CLI::Option* add_batch_options(CLI::App& command, std::int64_t& batch,
                               std::int64_t& batch_per_device) {
  constexpr std::int64_t kMostSamples = std::int64_t{1} << 30;
  CLI::Option* const whole =
      command.add_option("--batch", batch, "samples of a step, over all devices")
          ->check(whole_number(1, kMostSamples));
  command
      .add_option("--batch-per-device", batch_per_device, "samples per device instead (default 32)")
      ->check(whole_number(1, kMostSamples))
      ->excludes("--batch");
  return whole;
}

}  // namespace strata
