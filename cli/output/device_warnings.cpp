#include "cli/output/device_warnings.h"

#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cli/output/output.h"

namespace strata {
namespace {

constexpr double kMuch = 0.25;  // of the sweeps

}  // namespace

void warn_of_shared_cores(const Runner& runner, const std::string& devices) {
  if (!runner.is_one_process()) return;  // each has one device, and they may be on several hosts
  const Cluster cluster = runner.cluster(devices);
  const std::size_t cores = std::thread::hardware_concurrency();
  if (cores == 0 || cluster[DeviceId(0)].kind != "cpu" || cluster.device_count() <= cores) return;
  warn(
      fmt::format("{} on {} cores: devices take turns on a core, so times mean nothing and "
                  "predictions do not hold",
                  devices, cores));
}

void warn_if_disturbed(const Disturbance& disturbance, std::string_view consequence) {
  if (disturbance.share() < kMuch) return;
  warn(fmt::format(
      "something else ran on this machine, or its clock slowed down, in {} of {} sweeps; {}",
      disturbance.left_out, disturbance.of, consequence));
}

std::string plain_loops_text(const PlainLoops& loops) {
  if (loops.products == 0) return "";
  return fmt::format(
      "{} of the convolutions' products run in plain loops, which are slow: cuDNN has no engine "
      "for "
      "them; the first: {}\n",
      loops.products, loops.first_status);
}

}  // namespace strata
