#include "sim/study/sweep/question.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/study/case/network.h"
#include "sim/text/split.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::string_view kSet = "set.";

template <class Integer>
Integer whole(const std::string& text) {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end) return value;
  throw InputError(fmt::format("'{}' is not a whole number that fits", text));
}

std::int64_t positive(const std::string& text) {
  const auto value = whole<std::int64_t>(text);
  if (value > 0) return value;
  throw InputError(fmt::format("{} is not positive", value));
}

template <class T>
T parsed(std::optional<T> value, const std::string& text, std::string_view allowed) {
  if (value) return *value;
  throw InputError(fmt::format("'{}' is unknown; allowed: {}", text, allowed));
}

using Reader = std::function<void(Question&, const std::string&)>;

// What predictions, solves and runs have in common stands in both requests.
const std::map<std::string_view, Reader>& readers() {
  static const std::map<std::string_view, Reader> all = {
      {"model", [](Question& q, const std::string& v) { q.input.model = q.run.model = v; }},
      {"cluster", [](Question& q, const std::string& v) { q.input.cluster = v; }},
      {"devices", [](Question& q, const std::string& v) { q.run.devices = v; }},
      {"batch",
       [](Question& q, const std::string& v) { q.input.batch = q.run.batch = positive(v); }},
      {"batch_per_device",
       [](Question& q, const std::string& v) {
         q.input.batch_per_device = q.run.batch_per_device = positive(v);
       }},
      {"strategy", [](Question& q, const std::string& v) { q.strategy = q.run.strategy = v; }},
      {"sync",
       [](Question& q, const std::string& v) {
         q.input.sync = q.run.sync = parsed(parse_sync(v), v, "ps, ring, tree, hierarchical, auto");
       }},
      {"dtype",
       [](Question& q, const std::string& v) {
         q.input.dtype = parsed(parse_dtype(v), v, "fp32, tf32, bf16, fp16");
       }},
      {"profile",
       [](Question& q, const std::string& v) {
         q.input.profiles = q.run.profiles = split_at_commas(v);
       }},
      {"memory_limit", [](Question& q, const std::string& v) { q.memory_limit = parse_bytes(v); }},
      {"jitter", [](Question& q, const std::string& v) { q.jitter = whole<std::uint64_t>(v); }},
      {"steps",
       [](Question& q, const std::string& v) {
         q.steps = q.run.steps = static_cast<std::size_t>(positive(v));
       }},
      {"degrees",
       [](Question& q, const std::string& v) {
         q.space.degrees = q.run.space.degrees =
             parsed(parse_degree_set(v), v, "pow2, divisors, all");
       }},
      {"objective",
       [](Question& q, const std::string& v) {
         q.objective = parsed(parse_objective(v), v, "eq1, simulated");
       }},
      {"lr", [](Question& q, const std::string& v) { q.run.learning_rate = parse_number(v); }},
      {"seed", [](Question& q, const std::string& v) { q.run.seed = whole<std::uint64_t>(v); }},
      {"allow_unsupported",
       [](Question& q, const std::string& v) {
         q.input.unsupported = v == "true" ? Unsupported::opaque : Unsupported::refuse;
       }},
      {"layers", [](Question& q, const std::string& v) { q.layers = v == "true"; }},
  };
  return all;
}

void read(Question& question, const Setting& setting) try {
  const auto reader = readers().find(setting.key);
  if (reader != readers().end()) return reader->second(question, setting.value);
  if (!setting.key.starts_with(kSet)) throw InputError("unknown setting");
  question.input.sets.emplace_back(setting.key.substr(kSet.size()), setting.value);
} catch (InputError& error) {
  error.add_context(setting.key);
  throw;
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
  question.run.model = question.input.model;
  question.run.strategy = question.strategy;
  question.run.profiles = question.input.profiles;
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
  return question;
}

Question question_of(const Scenario& scenario, const Sweep& sweep, std::size_t i) {
  const auto folder = std::filesystem::path(scenario.file).parent_path();
  return understand(sweep.job, sweep.at(i), folder.string());
}

}  // namespace strata
