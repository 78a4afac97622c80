#include "gui/models/document.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/text/json.h"

namespace strata::gui {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json print_config(const Config& config) {
  Json degrees = Json::array(), devices = Json::array();
  for (const Dim dim : kDims) degrees.push_back(config.degrees[dim]);
  for (const DeviceId device : config.devices) devices.push_back(device());
  Json json = {{"degrees", degrees}, {"devices", devices}};
  if (config.degrees.r > 1) {
    json["r"] = config.degrees.r;
    json["scatter"] = static_cast<int>(config.degrees.scatter);
  }
  return json;
}

Config parse_config(Table config) {
  const Value degrees = config.required("degrees");
  const std::vector<std::int64_t> parts =
      degrees.as_integers(1, std::numeric_limits<std::int32_t>::max());
  if (parts.size() != kDims.size()) {
    degrees.fail_expected(fmt::format("a list of {} integers", kDims.size()));
  }
  Config result;
  for (std::size_t i = 0; const Dim dim : kDims) {
    result.degrees[dim] = static_cast<std::int32_t>(parts[i++]);
  }
  constexpr std::int64_t kAny = std::numeric_limits<std::int32_t>::max();
  result.degrees.r = static_cast<std::int32_t>(config.integer_or("r", 1, 1, kAny));
  result.degrees.scatter = static_cast<Dim>(config.integer_or("scatter", 0, 0, kDims.size() - 1));
  const Value devices = config.required("devices");
  for (const std::int64_t id : devices.as_integers(0, std::numeric_limits<std::int32_t>::max())) {
    result.devices.emplace_back(static_cast<std::uint32_t>(id));
  }
  return result;
}

Json print_input(const CaseRequest& input) {
  Json json = {{"model", input.model},
               {"cluster", input.cluster},
               {"batch_per_device", input.batch_per_device},
               {"sync", std::string(name(input.sync.algorithm))},
               {"bucket", input.sync.bucket.value},
               {"dtype", std::string(name(input.dtype))},
               {"profiles", input.profiles},
               {"sets", Json::array()}};
  if (input.batch) json["batch"] = *input.batch;
  for (const auto& [key, value] : input.sets) json["sets"].push_back({key, value});
  if (input.unsupported == Unsupported::opaque) json["allow_unsupported"] = true;
  return json;
}

template <class T>
T known(std::optional<T> parsed, const Value& value) {
  if (!parsed) value.fail_expected("a known name");
  return *parsed;
}

std::pair<std::string, std::string> parse_set(const Value& value) {
  std::vector<std::string> words = value.as_strings();
  if (words.size() != 2) value.fail_expected("a key and its value");
  return {std::move(words[0]), std::move(words[1])};
}

CaseRequest parse_input(Table json) {
  CaseRequest input;
  input.model = json.string("model");
  input.cluster = json.string("cluster");
  input.batch_per_device = json.integer("batch_per_device", 1);
  if (const auto batch = json.optional("batch")) input.batch = batch->as_integer(1);
  input.sync.algorithm = known(parse_sync(json.string("sync")), json.required("sync"));
  const auto bucket = json.optional("bucket");  // older documents know none
  input.sync.bucket = bucket ? Bytes{bucket->as_integer(0)} : Bytes{};
  input.dtype = known(parse_dtype(json.string("dtype")), json.required("dtype"));
  input.profiles = json.required("profiles").as_strings();
  for (const Value& set : json.required("sets").as_list()) input.sets.push_back(parse_set(set));
  if (json.boolean_or("allow_unsupported", false)) input.unsupported = Unsupported::opaque;
  return input;
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
  return a.input == b.input && a.strategy == b.strategy && a.locked == b.locked;
}

Document parse_document(std::string_view json, const std::string& file) {
  const strata::Document saved = parse_json(json, file);
  Table root = saved.table();
  const auto version = root.optional("strata_document");
  if (!version) root.fail("this is no saved session: missing key 'strata_document'");
  if (version->as_integer() != kVersion) version->fail("the session is of another version");
  Document document;
  document.input = parse_input(root.table("input"));
  document.strategy.source = root.string("strategy");
  for (const Table& config : root.tables("configs")) {
    document.strategy.configs.push_back(parse_config(config));
  }
  document.strategy.found = root.string_or("found", "");
  document.locked = root.required("locked").as_strings();
  return document;
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
  const GradientSync usual = CaseRequest().sync;
  if (input.sync.algorithm != usual.algorithm) {
    text += fmt::format(" --sync {}", name(input.sync.algorithm));
  }
  if (input.sync.bucket != usual.bucket) {
    text += fmt::format(" --bucket {}", input.sync.bucket.value);
  }
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
