#include "sim/importers/trace/trace_event.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

namespace od = simdjson::ondemand;

std::string_view read_string(std::string_view key, od::value value) {
  std::string_view text;
  const auto error = value.get_string().get(text);
  if (error == simdjson::INCORRECT_TYPE) {
    throw InputError(fmt::format("'{}' of an event must be a string", key));
  }
  if (error) throw simdjson::simdjson_error(error);
  return text;
}

std::string_view read_word(std::string_view key, od::value value) {
  const od::json_type type = value.type();
  if (type == od::json_type::string) return read_string(key, value);
  if (type != od::json_type::number) {
    throw InputError(fmt::format("'{}' of an event must be a number or a string", key));
  }
  std::string_view token = value.raw_json_token();
  const double number = value.get_double();  // that it is one, and not just begins as one
  (void)number;
  const std::size_t end = token.find_first_of(" \t\r\n");
  return token.substr(0, end);
}

double read_micros(std::string_view key, od::value value) {
  double number = 0;
  const auto error = value.get_double().get(number);
  if (error == simdjson::INCORRECT_TYPE) {
    throw InputError(fmt::format("'{}' of an event must be a number of microseconds", key));
  }
  if (error) throw simdjson::simdjson_error(error);
  return number;
}

std::string_view read_object(od::value value) {
  od::object object;
  const auto error = value.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) {
    throw InputError("'args' of an event must be an object, {...}");
  }
  if (error) throw simdjson::simdjson_error(error);
  return object.raw_json();
}

// The text that follows a view is the rest of the document with its padding.
od::document open(std::string_view args, od::parser& parser) {
  return parser.iterate(simdjson::padded_string_view(args.data(), args.size(),
                                                     args.size() + simdjson::SIMDJSON_PADDING));
}

}  // namespace

TraceEvent TraceEvent::read(od::object object) {
  TraceEvent event;
  for (auto member : object) {
    od::field field = std::move(member);
    const std::string_view key = field.unescaped_key();
    od::value value = field.value();
    if (value.is_null()) continue;
    if (key == "ph") event.phase = read_string(key, value);
    if (key == "name") event.name = read_string(key, value);
    if (key == "cat") event.category = read_string(key, value);
    if (key == "pid") event.process = read_word(key, value);
    if (key == "tid") event.thread = read_word(key, value);
    if (key == "id") event.id = read_word(key, value);
    if (key == "ts") event.begin = read_micros(key, value);
    if (key == "dur") event.duration = read_micros(key, value);
    if (key == "args") event.args = read_object(value);
  }
  return event;
}

std::optional<std::string_view> TraceEvent::text(std::string_view key, od::parser& parser) const {
  if (args.empty()) return std::nullopt;
  od::document document = open(args, parser);
  std::string_view text;
  if (document.find_field_unordered(key).get_string().get(text)) return std::nullopt;
  return text;
}

std::optional<double> TraceEvent::number(std::string_view key, od::parser& parser) const {
  if (args.empty()) return std::nullopt;
  od::document document = open(args, parser);
  double number = 0;
  if (document.find_field_unordered(key).get_double().get(number)) return std::nullopt;
  return number;
}

std::optional<double> TraceEvent::first_number(od::parser& parser) const {
  if (args.empty()) return std::nullopt;
  od::document document = open(args, parser);
  od::object object;
  if (document.get_object().get(object)) return std::nullopt;
  for (auto member : object) {
    double number = 0;
    if (!std::move(member).value().get_double().get(number)) return number;
  }
  return std::nullopt;
}

}  // namespace strata
