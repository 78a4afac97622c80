#include "sim/ask/request.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/case/expert_load_text.h"
#include "sim/case/framework.h"
#include "sim/case/network.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kSet = "set.";

/// Reads settings into a request, by key.
template <class Asked>
class Reader {
 public:
  Reader(Asked& request, Job job, const std::string& folder)
      : request_(request), job_(job), folder_(folder) {}

  void read(const Setting& given) {
    bool known = false;
    each_setting(request_, [&](std::string_view key, auto& value) {
      if (key != given.key) return;
      known = true;
      take(given, value);
    });
    if (known) return;
    const bool of_run = std::same_as<Asked, RunRequest>;
    if (!of_run && given.key.starts_with(kSet)) {
      const std::string key = given.key.substr(kSet.size());
      request_.input.sets.emplace_back(key, seen_from(folder_, key, given.value));
      return;
    }
    std::vector<std::string_view> keys;
    each_setting(request_,
                 [&](std::string_view key, const auto& /*value*/) { keys.push_back(key); });
    throw InputError(
        fmt::format("{}: unknown setting; allowed: {}", given.key, fmt::join(keys, ", ")));
  }

 private:
  template <class Value>
  void take(const Setting& given, Value& value) {
    if (find_setting(given.key) != nullptr) {
      read_setting(given.key, given.value, value, job_);
      return find(value);
    }
    if constexpr (std::same_as<Value, bool>) {
      if (given.value != "true" && given.value != "false") {
        throw InputError(fmt::format("{}: '{}'; allowed: true, false", given.key, given.value));
      }
      value = given.value == "true";
    }
    if constexpr (std::same_as<Value, std::string>) {
      value = given.value;
      find(value);
    }
    if constexpr (std::same_as<Value, std::vector<std::string>>) {
      value = given.value.empty() ? Value() : split_at_commas(given.value);
    }
  }

  void find(std::string& name) const {
    if (names_file(name)) name = (std::filesystem::path(folder_) / name).string();
  }
  void find(std::vector<std::string>& files) const {
    for (std::string& file : files) find(file);
  }
  template <class Value>
  void find(const Value& /*no name*/) const {}

  Asked& request_;
  const Job job_;
  const std::string& folder_;
};

template <class Asked>
Asked read(std::span<const Setting> settings, Job job, const std::string& folder) {
  Asked request;
  Reader<Asked> reader(request, job, folder);
  for (const Setting& setting : settings) reader.read(setting);
  choose_settings(request.input, [&](std::string_view key) {
    return std::ranges::find(settings, key, &Setting::key) != settings.end();
  });
  return request;
}

}  // namespace

bool names_file(const std::string& value) {
  return is_model_file(value) || value.ends_with(".json") || value.ends_with(".csv");
}

const CaseRequest& case_of(const Request& request) {
  return std::visit([](const auto& of) -> const CaseRequest& { return of.input; }, request);
}

Request understand(std::string_view command, std::span<const Setting> settings,
                   const std::string& folder) {
  if (command == "predict") return read<PredictRequest>(settings, Job::predict, folder);
  if (command == "solve") return read<SolveRequest>(settings, Job::solve, folder);
  if (command == "explain") return read<ExplainRequest>(settings, Job::predict, folder);
  if (command == "diff") return read<DiffRequest>(settings, Job::predict, folder);
  if (command == "run") return read<RunRequest>(settings, Job::run, folder);
  throw InputError(
      fmt::format("'{}' is no question; allowed: predict, solve, explain, diff, run", command));
}

}  // namespace strata
