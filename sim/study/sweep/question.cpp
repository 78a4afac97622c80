#include "sim/study/sweep/question.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/scenario/settings.h"
#include "sim/study/case/network.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kSet = "set.";

using Reader = void (*)(Question&, const std::string&);

const std::map<std::string_view, Reader>& readers() {
  static const std::map<std::string_view, Reader> all = {
      {"model", [](Question& q, const std::string& v) { q.input.model = v; }},
      {"cluster", [](Question& q, const std::string& v) { q.input.cluster = v; }},
      {"devices", [](Question& q, const std::string& v) { q.run.devices = v; }},
      {"batch",
       [](Question& q, const std::string& v) { q.input.batch = read_positive("batch", v); }},
      {"batch_per_device",
       [](Question& q, const std::string& v) {
         q.input.batch_per_device = read_positive("batch_per_device", v);
       }},
      {"strategy", [](Question& q, const std::string& v) { q.strategy = v; }},
      {"sync",
       [](Question& q, const std::string& v) {
         q.input.sync.algorithm = read_choice<SyncAlgorithm>("sync", v);
       }},
      {"bucket",
       [](Question& q, const std::string& v) { q.input.sync.bucket = read_size("bucket", v); }},
      {"dtype",
       [](Question& q, const std::string& v) { q.input.dtype = read_choice<DType>("dtype", v); }},
      {"profile", [](Question& q, const std::string& v) { q.input.profiles = split_at_commas(v); }},
      {"memory_limit",
       [](Question& q, const std::string& v) { q.memory_limit = read_size("memory_limit", v); }},
      {"jitter", [](Question& q, const std::string& v) { q.jitter = read_natural("jitter", v); }},
      {"steps",
       [](Question& q, const std::string& v) {
         q.steps = q.run.steps = static_cast<std::size_t>(read_positive("steps", v));
       }},
      {"degrees",
       [](Question& q, const std::string& v) {
         q.space.degrees = read_choice<DegreeSet>("degrees", v);
       }},
      {"reductions",
       [](Question& q, const std::string& v) {
         q.space.reductions = read_choice<ReductionCuts>("reductions", v);
       }},
      {"objective",
       [](Question& q, const std::string& v) {
         q.objective = read_choice<Objective>("objective", v);
       }},
      {"lr", [](Question& q, const std::string& v) { q.run.learning_rate = read_rate("lr", v); }},
      {"seed", [](Question& q, const std::string& v) { q.run.seed = read_natural("seed", v); }},
      {"allow_unsupported",
       [](Question& q, const std::string& v) {
         q.input.unsupported = v == "true" ? Unsupported::opaque : Unsupported::refuse;
       }},
      {"layers", [](Question& q, const std::string& v) { q.layers = v == "true"; }},
  };
  return all;
}

void read(Question& question, const Setting& setting) {
  const auto reader = readers().find(setting.key);
  if (reader != readers().end()) return reader->second(question, setting.value);
  if (!setting.key.starts_with(kSet)) {
    throw InputError(fmt::format("{}: unknown setting", setting.key));
  }
  question.input.sets.emplace_back(setting.key.substr(kSet.size()), setting.value);
}

bool is_file(const std::string& name) {
  return is_model_file(name) || name.ends_with(".json");
}

void find_files(Question& question, const std::string& folder) {
  const auto find = [&](std::string& name) {
    if (is_file(name)) name = (std::filesystem::path(folder) / name).string();
  };
  find(question.input.model);
  find(question.input.cluster);
  find(question.strategy);
  for (std::string& file : question.input.profiles) find(file);
}

// What predictions, solves and runs have in common stands in both requests.
void share_with_run(Question& question) {
  const CaseRequest& input = question.input;
  RunRequest& run = question.run;
  run.model = input.model;
  run.batch = input.batch;
  run.batch_per_device = input.batch_per_device;
  run.sync = input.sync;
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
  const bool says = std::any_of(settings.begin(), settings.end(),
                                [](const Setting& s) { return s.key == "layers"; });
  for (const Setting& setting : settings) read(question, setting);
  if (!says) question.layers = job == Job::solve || question.strategy == "optimal";
  find_files(question, folder);
  share_with_run(question);
  return question;
}

Question question_of(const Scenario& scenario, const Sweep& sweep, std::size_t i) {
  const auto folder = std::filesystem::path(scenario.file).parent_path();
  return understand(sweep.job, sweep.at(i), folder.string());
}

}  // namespace strata
