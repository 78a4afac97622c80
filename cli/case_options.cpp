#include "cli/case_options.h"

#include <fmt/format.h>

#include "cli/batch_options.h"
#include "cli/dtype_option.h"
#include "cli/output.h"
#include "cli/sync_option.h"
#include "cli/usage.h"
#include "cli/what_if_option.h"
#include "sim/base/error.h"
#include "sim/study/case/doubts.h"

namespace strata {
void add_model_and_cluster(CLI::App& command, CaseFlags& flags) {
  command
      .add_option("MODEL", flags.request.model, "a name (strata models), or a .toml or .onnx file")
      ->required();
  command
      .add_option("--cluster", flags.request.cluster, "a name (strata clusters) or a .toml file")
      ->required();
}

void add_case_options(CLI::App& command, CaseFlags& flags) {
  flags.batch_option = add_batch_options(command, flags.batch, flags.request.batch_per_device);
  add_sync_option(command, flags.sync);
  add_dtype_option(command, flags.dtype, "fp32, tf32, bf16 or fp16 (default fp32)");
  add_set_option(command, flags.sets);
  command
      .add_option(
          "--profile", flags.request.profiles,
          "a .toml file (strata profile writes them) in place of the profile that ships for "
          "its kind of device; repeatable")
      ->allow_extra_args(false);
  add_unsupported_option(command, flags.request.unsupported);
}

void add_unsupported_option(CLI::App& command, Unsupported& unsupported) {
  command
      .add_flag_callback(
          "--allow-unsupported", [&unsupported] { unsupported = Unsupported::opaque; },
          "take ops of an .onnx file that are not read for opaque ones, at the cost of their bytes")
      ->disable_flag_override();
}

Case load(CaseFlags& flags) {
  flags.request.dtype = dtype_of(flags.dtype);
  flags.request.sync = sync_of(flags.sync);
  if (flags.batch_option->count() > 0) flags.request.batch = flags.batch;
  flags.request.sets = parse_sets(flags.sets);
  Case input = load_case(flags.request);
  for (const std::string& doubt : doubts(input)) warn(doubt);
  return input;
}

std::vector<std::string> files_read(const CaseFlags& flags, const std::vector<std::string>& more) {
  std::vector<std::string> files = flags.request.profiles;
  files.insert(files.end(), {flags.request.model, flags.request.cluster});
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

void print_header(const Case& input) {
  print("{} on {}: {} devices, batch {}, {}, sync {}\n\n", input.graph.name(), input.cluster.name(),
        input.cluster.device_count(), input.graph.batch(), name(input.dtypes.values),
        name(input.sync));
}

}  // namespace strata
