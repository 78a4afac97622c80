#pragma once

// One object of a replay plan as it stands there: types and ranges of the values are checked, but
// no name is looked up. A key whose value is null is absent. The views hold until the next object
// of the same file is read (JSONL), or as long as the document (JSON).

#include <optional>
#include <string_view>
#include <vector>

#include <simdjson.h>

namespace strata {

struct ReplayFields {
  std::optional<std::string_view> id, on, from, to;
  std::optional<double> seconds, bytes, latency, delay, not_before, event, priority;
  bool id_is_integer = false;
  bool has_over = false, has_after = false, has_weights = false;
  std::vector<std::string_view> over, after;
  std::vector<double> weights;

  /// Throws InputError without a place. The id is read even where another key is wrong, if it
  /// stands before it.
  void read(simdjson::ondemand::object object);

 private:
  void clear();
  void read_field(std::string_view key, simdjson::ondemand::value value);
  void read_list_field(std::string_view key, simdjson::ondemand::value value);
  void check_forms() const;
  void need(std::string_view key, bool has, bool needs) const;
};

/// "no valid JSON: REASON".
[[noreturn]] void fail_syntax(simdjson::error_code error);

}  // namespace strata
