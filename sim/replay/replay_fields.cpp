#include "sim/replay/replay_fields.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/engine/workload.h"

namespace strata {
namespace {

namespace od = simdjson::ondemand;

constexpr double kMaxSeconds = 9.0e6, kMaxBytes = 1e18, kMaxPriority = 0x1p53;
constexpr std::string_view kKeys =
    "id, on, seconds, priority, from, to, over, weights, bytes, latency, event, after, delay, "
    "not_before";

[[noreturn]] void fail_field(std::string_view key, std::string_view expected) {
  throw InputError(fmt::format("'{}' must be {}", key, expected));
}

// Errors of syntax stay what they are; only a wrong type is the field's error.
bool is(simdjson::error_code error) {
  if (error == simdjson::SUCCESS) return true;
  if (error != simdjson::INCORRECT_TYPE && error != simdjson::NUMBER_ERROR) fail_syntax(error);
  return false;
}

od::json_type type_of(od::value& value) {
  od::json_type type{};
  if (const auto error = value.type().get(type)) fail_syntax(error);
  return type;
}

bool is_null(od::value& value) {
  bool null = false;
  if (const auto error = value.is_null().get(null)) fail_syntax(error);
  return null;
}

std::string_view string_of(std::string_view key, od::value value) {
  std::string_view text;
  if (!is(value.get_string().get(text)) || text.empty()) fail_field(key, "a string, not empty");
  return text;
}

std::string_view trimmed(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// An integer stands for its digits.
std::string_view id_of(std::string_view key, od::value value, std::string_view expected) {
  const od::json_type type = type_of(value);
  if (type == od::json_type::string) {
    std::string_view text;
    if (is(value.get_string().get(text)) && !text.empty()) return text;
  }
  if (type == od::json_type::number) {
    const std::string_view digits = trimmed(value.raw_json_token());
    std::int64_t integer = 0;
    if (is(value.get_int64().get(integer))) return digits;
  }
  fail_field(key, expected);
}

double number_of(std::string_view key, od::value value, double max, std::string_view unit) {
  double number = 0;
  if (is(value.get_double().get(number)) && number >= 0 && number <= max) return number;
  fail_field(key, fmt::format("a number{} from 0 to {:g}", unit, max));
}

double seconds_of(std::string_view key, od::value value) {
  return number_of(key, value, kMaxSeconds, " of seconds");
}

double whole_number_of(std::string_view key, od::value value) {
  const double number = number_of(key, value, kMaxPriority, "");
  if (number != std::floor(number)) fail_field(key, "a whole number");
  return number;
}

double weight_of(od::value value) {
  double weight = 0;
  const bool number = is(value.get_double().get(weight));
  if (number && weight >= kLeastWeight && weight <= kMostWeight) return weight;
  fail_field("weights", fmt::format("numbers from {:g} to {:g}", kLeastWeight, kMostWeight));
}

template <class Read>
void read_list(std::string_view key, od::value value, std::string_view of, Read&& read) {
  od::array array;
  if (!is(value.get_array().get(array))) fail_field(key, fmt::format("a list of {}", of));
  for (auto item : array) {
    od::value element;
    if (const auto error = std::move(item).get(element)) fail_syntax(error);
    read(element);
  }
}

}  // namespace

void fail_syntax(simdjson::error_code error) {
  throw InputError(fmt::format("no valid JSON: {}", simdjson::error_message(error)));
}

void ReplayFields::clear() {
  id = on = from = to = std::nullopt;
  seconds = bytes = latency = delay = not_before = event = priority = std::nullopt;
  id_is_integer = has_over = has_after = has_weights = false;
  over.clear();
  after.clear();
  weights.clear();
}

void ReplayFields::read(od::object object) {
  clear();
  for (auto member : object) {
    od::field field;
    if (const auto error = std::move(member).get(field)) fail_syntax(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) fail_syntax(error);
    if (!is_null(field.value())) read_field(key, field.value());
  }
  check_forms();
}

void ReplayFields::read_field(std::string_view key, od::value value) {
  const auto set = [&](auto& slot, auto read) {
    if (slot) throw InputError(fmt::format("key '{}' comes twice", key));
    slot = read;
  };
  if (key == "id") {
    id_is_integer = type_of(value) == od::json_type::number;
    return set(id, id_of(key, value, "a string, not empty, or an integer"));
  }
  if (key == "on") return set(on, string_of(key, value));
  if (key == "seconds") return set(seconds, seconds_of(key, value));
  if (key == "from") return set(from, string_of(key, value));
  if (key == "to") return set(to, string_of(key, value));
  if (key == "bytes") return set(bytes, number_of(key, value, kMaxBytes, ""));
  if (key == "latency") return set(latency, seconds_of(key, value));
  if (key == "delay") return set(delay, seconds_of(key, value));
  if (key == "not_before") return set(not_before, seconds_of(key, value));
  if (key == "event") return set(event, seconds_of(key, value));
  if (key == "priority") return set(priority, whole_number_of(key, value));
  read_list_field(key, value);
}

void ReplayFields::read_list_field(std::string_view key, od::value value) {
  const auto once = [&](bool& has) {
    if (has) throw InputError(fmt::format("key '{}' comes twice", key));
    has = true;
  };
  if (key == "after") {
    once(has_after);
    read_list(key, value, "ids", [&](od::value v) {
      after.push_back(id_of(key, v, "a list of ids: strings or integers"));
    });
  } else if (key == "over") {
    once(has_over);
    read_list(key, value, "names of links",
              [&](od::value v) { over.push_back(string_of("over", v)); });
  } else if (key == "weights") {
    once(has_weights);
    read_list(key, value, "positive numbers",
              [&](od::value v) { weights.push_back(weight_of(v)); });
  } else {
    throw InputError(fmt::format("unknown key '{}'; allowed: {}", key, kKeys));
  }
}

// Each activity is of one form, with all that the form needs and nothing of the others.
void ReplayFields::check_forms() const {
  if (!id) throw InputError("missing key 'id'");
  const bool routed = from || to;
  const int forms = (on ? 1 : 0) + (routed ? 1 : 0) + (has_over ? 1 : 0) + (event ? 1 : 0);
  if (forms != 1) {
    throw InputError(
        fmt::format("activity '{}' is of {}; allowed: one of 'on' (compute), 'from' "
                    "and 'to' (flow), 'over' (flow), 'event'",
                    *id, forms == 0 ? "no form" : "several forms"));
  }
  const bool flow = routed || has_over;
  need("seconds", seconds.has_value(), on.has_value());
  need("bytes", bytes.has_value(), flow);
  need("from", from.has_value(), routed);
  need("to", to.has_value(), routed);
  if (priority) need("priority", true, on.has_value());
  if (latency) need("latency", true, flow);
  if (has_weights) need("weights", true, has_over);
}

void ReplayFields::need(std::string_view key, bool has, bool needs) const {
  if (has == needs) return;
  throw InputError(
      fmt::format("activity '{}': {} key '{}'; a compute activity has 'on' and "
                  "'seconds', a flow 'bytes' and 'from' and 'to', or 'over'",
                  *id, has ? "unexpected" : "missing", key));
}

}  // namespace strata
