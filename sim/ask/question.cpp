#include "sim/ask/question.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/case/case_settings.h"
#include "sim/case/framework.h"
#include "sim/case/network.h"
#include "sim/scenario/settings.h"

namespace strata {
namespace {

constexpr std::string_view kSet = "set.";

template <class Visit>
void each_setting(Question& question, const Visit& visit) {
  each_setting(question.input, visit);
  RunRequest& run = question.run;
  visit("devices", run.devices);
  visit("strategy", question.strategy);
  visit("memory_limit", question.memory_limit);
  visit("jitter", question.jitter);
  visit("steps", question.job == Job::run ? run.steps : question.steps);
  visit("degrees", question.space.degrees);
  visit("reductions", question.space.reductions);
  visit("objective", question.objective);
  visit("lr", run.learning_rate);
  visit("beta1", run.constants.beta1);
  visit("beta2", run.constants.beta2);
  visit("epsilon", run.constants.epsilon);
  visit("weight_decay", run.constants.weight_decay);
  visit("seed", run.seed);
  visit("layers", question.layers);
}

void read(Question& question, const Setting& setting) {
  bool known = false;
  each_setting(question, [&](std::string_view key, auto& value) {
    if (key != setting.key) return;
    read_setting(key, setting.value, value, question.job);
    known = true;
  });
  if (known) return;
  if (!setting.key.starts_with(kSet)) {
    throw InputError(fmt::format("{}: unknown setting", setting.key));
  }
  question.input.sets.emplace_back(setting.key.substr(kSet.size()), setting.value);
}

bool is_file(const std::string& name) {
  return is_model_file(name) || name.ends_with(".json") || name.ends_with(".csv");
}

void find_files(Question& question, const std::string& folder) {
  const auto find = [&](std::string& name) {
    if (is_file(name)) name = (std::filesystem::path(folder) / name).string();
  };
  find(question.input.model);
  find(question.input.cluster);
  find(question.strategy);
  find(question.input.training.schedule);
  find(question.input.framework);
  for (std::string& file : question.input.profiles) find(file);
}

// What predictions, solves and runs have in common stands in both requests.
void share_with_run(Question& question) {
  const CaseRequest& input = question.input;
  RunRequest& run = question.run;
  run.model = input.model;
  run.training = input.training;
  run.profiles = input.profiles;
  run.strategy = question.strategy;
  run.space = question.space;
}

std::string as_json(std::span<const Setting> settings, bool with_files) {
  nlohmann::json object = nlohmann::json::object();  // sorts its keys
  for (const Setting& setting : settings) {
    const bool file = setting.key == "profile" || is_file(setting.value);
    object[setting.key] = file && !with_files ? "" : setting.value;
  }
  return object.dump();
}

}  // namespace

std::string Question::name() const {
  const std::string& where = job == Job::run ? run.devices : input.cluster;
  const std::string what = job == Job::solve ? "solve" : fmt::format("strategy {}", strategy);
  std::string text = fmt::format("{} on {}, {}", input.model, where, what);
  for (const auto& [key, value] : input.sets) text += fmt::format(", {}={}", key, value);
  return text;
}

Question understand(Job job, std::span<const Setting> settings, const std::string& folder) {
  Question question;
  question.job = job;
  question.settings = as_json(settings, true);
  question.known_by = as_json(settings, false);
  const auto says = [&](std::string_view key) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const Setting& setting) { return setting.key == key; });
  };
  for (const Setting& setting : settings) read(question, setting);
  if (!says("layers")) question.layers = job == Job::solve || searched_objective(question.strategy);
  find_files(question, folder);
  choose_settings(question.input, says);
  share_with_run(question);
  return question;
}

Question question_of(const Scenario& scenario, const Sweep& sweep, std::size_t i) {
  const auto folder = std::filesystem::path(scenario.file).parent_path();
  return understand(sweep.job, sweep.at(i), folder.string());
}

}  // namespace strata
