// Cases drawn over all settings: the command line says of each what the library says.

#include <array>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/scenario/settings.h"
#include "tests/folder.h"
#include "tests/metamorphic/trial.h"

namespace strata {
namespace {

using testing::Answer;
using testing::DrawnCase;

// As a shell takes it.
std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

std::string option_of(const Setting& setting) {
  const SettingSpec* const spec = find_setting(setting.key);
  if (spec == nullptr) return " --set " + quoted(setting.key.substr(4) + "=" + setting.value);
  std::string name = setting.key;
  for (char& c : name) c = c == '_' ? '-' : c;
  if (spec->form != ValueForm::flag) return fmt::format(" --{} {}", name, quoted(setting.value));
  return setting.value == "true" ? " --" + name : "";
}

// `predict` of all settings that its command line has.
std::string command(const DrawnCase& drawn) {
  std::string text = fmt::format("{} predict {}", STRATA_PROGRAM, quoted(drawn.value("model")));
  for (const Setting& setting : drawn.settings) {
    const bool of_searches = setting.key == "degrees" || setting.key == "reductions";
    const bool of_sweeps = setting.key == "layers" || setting.key == "memory_limit";
    if (setting.key != "model" && !of_searches && !of_sweeps) text += option_of(setting);
  }
  return text + " --no-classes --json 2>/dev/null";
}

std::string output_of(const std::string& shell_command) {
  FILE* const pipe = popen(shell_command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), size);
  }
  pclose(pipe);
  return output;
}

TEST(DrawnCases, AreAnsweredAlikeByTheCommandLine) {
  const testing::Folder folder("drawn");
  CaseLoader loader;
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    testing::Random random(seed);
    const DrawnCase drawn = testing::drawn_case(random, folder.path(), seed);
    SCOPED_TRACE(command(drawn));
    const std::string output = output_of(command(drawn));
    std::optional<Answer> answer;
    try {
      answer = testing::ask(loader, drawn);
    } catch (const InputError& error) {
      EXPECT_EQ(output, "") << "though it is refused: " << error.message();
      continue;
    }
    ASSERT_NE(output, "");
    const auto json = nlohmann::json::parse(output);
    const Prediction& found = answer->found;
    EXPECT_DOUBLE_EQ(json.at("step_seconds").get<double>(), found.step.value);
    EXPECT_DOUBLE_EQ(json.at("eq1_seconds").get<double>(), found.eq1_seconds().value);
    EXPECT_EQ(json.at("comm_bytes").get<std::int64_t>(), found.communication.total().value);
    EXPECT_EQ(json.at("peak_memory_bytes").get<std::int64_t>(), found.largest_peak().value);
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace strata
