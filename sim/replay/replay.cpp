#include "sim/replay/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/replay/json_lines.h"
#include "sim/replay/replay_builder.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

namespace od = simdjson::ondemand;

constexpr std::string_view kBlank = " \t\r\n";

std::string_view skip_blank(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlank), text.size()));
}

bool is_blank(const simdjson::padded_string_view& text) {
  return skip_blank({text.data(), text.size()}).empty();
}

bool begins_document(std::string_view first_line) {
  const std::string_view text = skip_blank(first_line);
  if (!text.starts_with('{')) return text.empty();
  const std::string_view key = skip_blank(text.substr(1));
  return key.empty() || key.starts_with("\"activities\"");
}

std::string reason(simdjson::error_code error) {
  return fmt::format("no valid JSON: {}", simdjson::error_message(error));
}

bool at_end(od::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

// An object a line; blank lines are none.
void read_lines(Lines& lines, ReplayBuilder& builder) {
  od::parser parser;
  while (const auto line = lines.next()) {
    const int number = lines.number();
    if (is_blank(*line)) continue;
    od::document document;
    od::object object;
    simdjson::error_code error = parser.iterate(*line).get(document);
    if (!error) error = document.get_object().get(object);
    if (error == simdjson::INCORRECT_TYPE) {
      builder.add_error(number, "an activity must be an object, {...}");
    } else if (error) {
      builder.add_error(number, reason(error));
    } else if (builder.add(object, number) && !at_end(document)) {
      builder.add_error(number, "one object a line is allowed, and nothing behind it");
    }
  }
}

// {"activities": [...]}, where lines are counted on the way.
class DocumentReader {
 public:
  DocumentReader(simdjson::padded_string_view text, ReplayBuilder& builder)
      : text_(text), builder_(builder) {}

  void read() {
    simdjson::error_code error = parser_.iterate(text_).get(document_);
    if (error) return builder_.add_error(1, reason(error));
    od::object root;
    error = document_.get_object().get(root);
    if (!error) error = read_root(root);
    if (!error && !builder_.failed() && !at_end(document_)) error = simdjson::TRAILING_CONTENT;
    if (error) builder_.add_error(here(), reason(error));
  }

 private:
  simdjson::error_code read_root(od::object& root) {
    bool found = false;
    for (auto member : root) {
      od::field field;
      if (const auto error = std::move(member).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      if (key != "activities" || found) {
        builder_.add_error(here(),
                           fmt::format("unexpected key '{}'; allowed: activities, once", key));
        return simdjson::SUCCESS;
      }
      bool null = false;
      if (const auto error = field.value().is_null().get(null)) return error;
      if (null) continue;
      found = true;
      if (const auto error = read_activities(field.value())) return error;
    }
    if (!found) builder_.add_error(1, "missing key 'activities'");
    return simdjson::SUCCESS;
  }

  simdjson::error_code read_activities(od::value value) {
    od::array array;
    if (const auto error = value.get_array().get(array)) {
      if (error != simdjson::INCORRECT_TYPE) return error;
      builder_.add_error(here(), "'activities' must be a list of objects");
      return simdjson::SUCCESS;
    }
    for (auto item : array) {
      od::value element;
      if (const auto error = std::move(item).get(element)) return error;
      const int line = here();
      od::object object;
      if (const auto error = element.get_object().get(object)) {
        if (error != simdjson::INCORRECT_TYPE) return error;
        builder_.add_error(line, "an activity must be an object, {...}");
      } else {
        builder_.add(object, line);
      }
    }
    return simdjson::SUCCESS;
  }

  // The line of what is read now; it only goes on.
  int here() {
    const char* at = nullptr;
    const char* end = text_.data() + text_.size();
    if (document_.current_location().get(at)) at = end;
    at = std::clamp(at, counted_to_, end);
    line_ += static_cast<int>(std::count(counted_to_, at, '\n'));
    counted_to_ = at;
    return line_;
  }

  simdjson::padded_string_view text_;
  ReplayBuilder& builder_;
  od::parser parser_;
  od::document document_;
  const char* counted_to_ = text_.data();
  int line_ = 1;
};

ReplayPlan read(Source source, const std::string& file, const Cluster& cluster) {
  Lines lines(source, file);
  ReplayBuilder builder(file, cluster);
  if (!begins_document(lines.first())) {
    read_lines(lines, builder);
  } else {
    const simdjson::padded_string_view text = lines.rest();
    if (is_blank(text)) throw InputError(file + ": no activities; allowed: one or more");
    DocumentReader(text, builder).read();
  }
  return std::move(builder).build();
}

}  // namespace

ReplayPlan read_replay(const std::string& file, const Cluster& cluster) {
  return read(Source(file), file, cluster);
}

ActivityTimes simulate(const ReplayPlan& plan) try {
  return simulate(plan.workload);
} catch (const ClockEnds& error) {
  const ActivityId id = error.activity;
  fail({plan.file, plan.lines[id()]},
       fmt::format("activity '{}'{}", plan.ids[id], clock_ends_text()));
}

ReplayPlan parse_replay(std::string_view text, const std::string& file, const Cluster& cluster) {
  return read(Source(text), file, cluster);
}

}  // namespace strata
