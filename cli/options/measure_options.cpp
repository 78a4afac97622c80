#include "cli/options/measure_options.h"

#include <fmt/format.h>

#include "cli/options/setting_options.h"
#include "cli/options/usage.h"
#include "cli/output/output.h"
#include "sim/profile/write_profile.h"
#include "sim/strategy/hybrid.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kMostRounds = 1'000'000;

}  // namespace

void add_measure_options(CLI::App& command, MeasureFlags& flags, std::size_t rounds) {
  flags.rounds = rounds;
  command.add_option("MODEL", flags.models, "names (strata models), or .toml or .onnx files")
      ->required();
  add_setting(command, "dim", flags.dims);
  add_device_settings(command, flags.devices, flags.training.dtype);
  add_training(command, flags.training, kBatchKeys);
  command.add_option(
      "--strategies", flags.strategies,
      "of data, model, owt, hybrid:..., optimal and .json files, with commas between (default "
      "data,model,owt,optimal)");
  command
      .add_flag("--graph", flags.recorded,
                "as run --graph: record measured work and steps, and launch them whole")
      ->disable_flag_override();
  add_whole_number(command, "--rounds", flags.rounds, {1, kMostRounds},
                   fmt::format("how often to measure everything (default {})", rounds));
  command.add_option("-o,--output", flags.output,
                     "write the profile to this .toml file, its table of costs beside it");
  command.add_flag("--json", flags.json, "print JSON")->disable_flag_override();
}

std::vector<std::string> checked_strategies(const MeasureFlags& flags) {
  auto strategies = split_strategies(flags.strategies);
  if (flags.output.empty()) return strategies;
  refuse_overwriting({flags.output}, flags.models);
  refuse_overwriting({flags.output}, strategies);
  check_profile_file(flags.output);
  return strategies;
}

std::string batch_text(const MeasureFlags& flags) {
  return flags.training.batch
             ? fmt::format("--batch {}", *flags.training.batch)
             : fmt::format("--batch-per-device {}", flags.training.batch_per_device);
}

void MeasureProgressLine::show(const MeasureProgress& progress) {
  const auto now = Clock::now();
  if (progress.what != what_) {
    what_ = progress.what;
    began_ = now;
  }
  std::string text = fmt::format("{}: round {} of {}", what_, progress.round + 1, progress.of);
  if (progress.round > 0) {
    const std::chrono::duration<double> so_far = now - began_;
    const auto rest = static_cast<double>(progress.of - progress.round);
    text += fmt::format(
        ", about {} left for it",
        format_seconds(Seconds{so_far.count() / static_cast<double>(progress.round) * rest}));
  }
  line_.show(what_, text);
}

}  // namespace strata
