#include "sim/ask/question.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/scenario/settings.h"

namespace strata {
namespace {

constexpr std::string_view kLayers = "layers";

std::string as_json(std::span<const Setting> settings, bool with_files) {
  nlohmann::json object = nlohmann::json::object();  // sorts its keys
  for (const Setting& setting : settings) {
    const bool file = setting.key == "profile" || names_file(setting.value);
    object[setting.key] = file && !with_files ? "" : setting.value;
  }
  return object.dump();
}

}  // namespace

std::string Question::strategy() const {
  const auto* const predicted = std::get_if<PredictRequest>(&request);
  const auto* const run = std::get_if<RunRequest>(&request);
  if (predicted != nullptr) return predicted->strategy;
  return run != nullptr ? run->strategy : "";
}

std::string Question::where() const {
  const auto* const run = std::get_if<RunRequest>(&request);
  return run != nullptr ? run->devices : input().cluster;
}

std::string Question::name() const {
  const std::string what = job == Job::solve ? "solve" : fmt::format("strategy {}", strategy());
  std::string text = fmt::format("{} on {}, {}", input().model, where(), what);
  for (const auto& [key, value] : input().sets) text += fmt::format(", {}={}", key, value);
  return text;
}

Question understand(Job job, std::span<const Setting> settings, const std::string& folder) {
  Question question;
  question.job = job;
  question.settings = as_json(settings, true);
  question.known_by = as_json(settings, false);
  std::vector<Setting> of_request;
  std::optional<bool> layers;
  for (const Setting& setting : settings) {
    setting.key == kLayers ? read_setting(kLayers, setting.value, layers)
                           : of_request.push_back(setting);
  }
  question.request = understand(strata::name(job), of_request, folder);
  question.layers =
      layers.value_or(job == Job::solve || searched_objective(question.strategy()).has_value());
  return question;
}

Question question_of(const Scenario& scenario, const Sweep& sweep, std::size_t i) {
  const auto folder = std::filesystem::path(scenario.file).parent_path();
  return understand(sweep.job, sweep.at(i), folder.string());
}

}  // namespace strata
