#pragma once

// One event of a trace file, as it stands there; a key whose value is null is absent. Views into
// the document.

#include <optional>
#include <string_view>

#include <simdjson.h>

namespace strata {

struct TraceEvent {
  std::string_view phase, name, category;
  std::string_view process, thread, id;   ///< numbers or strings, as they are written
  std::string_view args;                  ///< JSON, or empty
  std::optional<double> begin, duration;  ///< microseconds

  /// Throws InputError without a place; simdjson_error for bad syntax.
  static TraceEvent read(simdjson::ondemand::object object);
  /// Of args: a string, or a number; nothing where there is none.
  std::optional<std::string_view> text(std::string_view key,
                                       simdjson::ondemand::parser& parser) const;
  std::optional<double> number(std::string_view key, simdjson::ondemand::parser& parser) const;
  std::optional<double> first_number(simdjson::ondemand::parser& parser) const;
};

}  // namespace strata
