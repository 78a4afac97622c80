#include "gui/models/document.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"

namespace strata::gui {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json print_config(const Config& config) {
  Json degrees = Json::array(), devices = Json::array();
  for (const Dim dim : kDims) degrees.push_back(config.degrees[dim]);
  for (const DeviceId device : config.devices) devices.push_back(device());
  return {{"degrees", degrees}, {"devices", devices}};
}

Config parse_config(const Json& json) {
  Config config;
  const Json& degrees = json.at("degrees");
  for (std::size_t i = 0; const Dim dim : kDims) {
    config.degrees[dim] = degrees.at(i++).get<std::int32_t>();
  }
  for (const Json& device : json.at("devices")) {
    config.devices.emplace_back(device.get<std::uint32_t>());
  }
  return config;
}

Json print_input(const CaseRequest& input) {
  Json json = {{"model", input.model},
               {"cluster", input.cluster},
               {"batch_per_device", input.batch_per_device},
               {"sync", std::string(name(input.sync))},
               {"dtype", std::string(name(input.dtype))},
               {"profiles", input.profiles},
               {"sets", Json::array()}};
  if (input.batch) json["batch"] = *input.batch;
  for (const auto& [key, value] : input.sets) json["sets"].push_back({key, value});
  if (input.unsupported == Unsupported::opaque) json["allow_unsupported"] = true;
  return json;
}

template <class T>
T known(std::optional<T> value, const std::string& text) {
  if (!value) throw InputError(fmt::format("'{}' is not known", text));
  return *value;
}

CaseRequest parse_input(const Json& json) {
  CaseRequest input;
  input.model = json.at("model");
  input.cluster = json.at("cluster");
  input.batch_per_device = json.at("batch_per_device");
  if (json.contains("batch")) input.batch = json.at("batch").get<std::int64_t>();
  const std::string sync = json.at("sync"), dtype = json.at("dtype");
  input.sync = known(parse_sync(sync), sync);
  input.dtype = known(parse_dtype(dtype), dtype);
  input.profiles = json.at("profiles").get<std::vector<std::string>>();
  for (const Json& set : json.at("sets")) input.sets.emplace_back(set.at(0), set.at(1));
  if (json.value("allow_unsupported", false)) input.unsupported = Unsupported::opaque;
  return input;
}

bool same_input(const CaseRequest& a, const CaseRequest& b) {
  return a.model == b.model && a.cluster == b.cluster && a.batch == b.batch &&
         a.batch_per_device == b.batch_per_device && a.sync == b.sync && a.dtype == b.dtype &&
         a.profiles == b.profiles && a.sets == b.sets && a.unsupported == b.unsupported;
}

}  // namespace

std::string StrategyChoice::label() const {
  if (!edited()) return shown_name(source);
  return found.empty() ? shown_name(source) + ", edited" : found;
}

std::string shown_name(const std::string& name_or_file) {
  return std::filesystem::path(name_or_file).filename().string();
}

std::string Document::what_if(std::string_view key) const {
  const auto set = std::find_if(input.sets.begin(), input.sets.end(),
                                [&](const auto& it) { return it.first == key; });
  return set == input.sets.end() ? std::string() : set->second;
}

Document Document::with_what_if(const std::string& key, const std::string& value) const {
  Document next = *this;
  WhatIfs& sets = next.input.sets;
  const auto set =
      std::find_if(sets.begin(), sets.end(), [&](const auto& it) { return it.first == key; });
  if (value.empty()) {
    if (set != sets.end()) sets.erase(set);
  } else if (set == sets.end()) {
    sets.emplace_back(key, value);
  } else {
    set->second = value;
  }
  return next;
}

Document Document::with_cluster(const std::string& cluster) const {
  Document next = *this;
  if (cluster == input.cluster) return next;
  next.input.cluster = cluster;
  if (strategy.edited()) next.strategy = {};
  return next;
}

std::string Document::name() const {
  return empty() ? std::string()
                 : fmt::format("{} on {}", shown_name(input.model), shown_name(input.cluster));
}

bool operator==(const Document& a, const Document& b) {
  return same_input(a.input, b.input) && a.strategy == b.strategy && a.locked == b.locked;
}

Document parse_document(std::string_view json, const std::string& file) try {
  const Json root = Json::parse(json);
  if (root.at("strata_document") != kVersion) throw InputError("is of another version");
  Document document;
  document.input = parse_input(root.at("input"));
  document.strategy.source = root.at("strategy");
  if (root.contains("configs")) {
    for (const Json& config : root.at("configs")) {
      document.strategy.configs.push_back(parse_config(config));
    }
  }
  document.strategy.found = root.value("found", std::string());
  document.locked = root.at("locked").get<std::vector<std::string>>();
  return document;
} catch (const Json::exception& error) {
  throw InputError(fmt::format("{}: is no saved session: {}", file, error.what()));
} catch (InputError& error) {
  error.add_context(file);
  throw;
}

std::string print_document(const Document& document) {
  Json root = {{"strata_document", kVersion},
               {"input", print_input(document.input)},
               {"strategy", document.strategy.source}};
  if (document.strategy.edited()) {
    root["configs"] = Json::array();
    for (const Config& config : document.strategy.configs) {
      root["configs"].push_back(print_config(config));
    }
  }
  if (!document.strategy.found.empty()) root["found"] = document.strategy.found;
  root["locked"] = document.locked;
  return root.dump(2) + "\n";
}

std::string case_arguments(const Document& document) {
  const CaseRequest& input = document.input;
  std::string text = shell_quoted(input.model) + " --cluster " + shell_quoted(input.cluster);
  if (input.batch) {
    text += fmt::format(" --batch {}", *input.batch);
  } else if (input.batch_per_device != CaseRequest().batch_per_device) {
    text += fmt::format(" --batch-per-device {}", input.batch_per_device);
  }
  if (input.sync != CaseRequest().sync) text += fmt::format(" --sync {}", name(input.sync));
  if (input.dtype != CaseRequest().dtype) text += fmt::format(" --dtype {}", name(input.dtype));
  for (const std::string& profile : input.profiles) text += " --profile " + shell_quoted(profile);
  for (const auto& [key, value] : input.sets) text += " --set " + shell_quoted(key + "=" + value);
  const bool opaque = input.unsupported == Unsupported::opaque && input.model.ends_with(".onnx");
  if (opaque) text += " --allow-unsupported";
  return text;
}

std::string strategy_argument(const Document& document, const std::string& strategy_file) {
  const StrategyChoice& choice = document.strategy;
  return " --strategy " + shell_quoted(choice.edited() ? strategy_file : choice.source);
}

std::string shell_quoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+%@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace strata::gui
