#include "sim/importers/trace/read_trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/importers/trace/trace_builder.h"
#include "sim/text/diagnostics.h"
#include "sim/text/file.h"

namespace strata {
namespace {

namespace od = simdjson::ondemand;

class TraceReader {
 public:
  TraceReader(simdjson::padded_string_view text, const std::string& file,
              const std::atomic<bool>* cancelled)
      : text_(text), file_(file), cancelled_(cancelled), counted_to_(text.data()) {}

  Trace read() && {
    try {
      read_document();
    } catch (const simdjson::simdjson_error& error) {
      errors_.add(here(), fmt::format("no valid JSON: {}", simdjson::error_message(error.error())));
    }
    errors_.throw_if_any();
    return std::move(builder_).build();
  }

 private:
  void read_document() {
    document_ = parser_.iterate(text_);
    opened_ = true;
    if (document_.type() == od::json_type::array) {
      read_events(document_.get_array());
    } else if (document_.type() == od::json_type::object) {
      read_object(document_.get_object());
    } else {
      errors_.add({file_, 1}, "no trace: neither an object nor a list");
      return;
    }
    if (errors_.empty() && document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      errors_.add(here(), "there is text after the end of the trace");
    }
  }

  void read_object(od::object root) {
    bool found = false;
    for (auto member : root) {
      od::field field = std::move(member);
      const std::string_view key = field.unescaped_key();
      if (key != "traceEvents") continue;
      od::value events = field.value();
      if (events.is_null()) continue;
      if (events.type() != od::json_type::array) {
        errors_.add(here(), "'traceEvents' must be a list of events");
        return;
      }
      found = true;
      read_events(events.get_array());
      if (errors_.count() > Diagnostics::kLimit) return;
    }
    if (!found) errors_.add({file_, 1}, "no trace: missing key 'traceEvents'");
  }

  // What is wrong with an event is said; what is wrong with the syntax ends the reading.
  void read_events(od::array events) {
    for (auto item : events) {
      throw_if_cancelled(cancelled_);
      od::value event = std::move(item).value();
      const Location where = here();
      if (event.type() != od::json_type::object) {
        errors_.add(where, "an event must be an object, {...}");
        return;
      }
      try {
        builder_.add(TraceEvent::read(event.get_object()));
      } catch (const InputError& error) {
        errors_.add(where, error.message());
        return;
      }
    }
  }

  // The line of what is read now; it only goes on.
  Location here() {
    const char* at = nullptr;
    const char* end = text_.data() + text_.size();
    if (!opened_ || document_.current_location().get(at)) at = opened_ ? end : counted_to_;
    at = std::clamp(at, counted_to_, end);
    line_ += static_cast<int>(std::count(counted_to_, at, '\n'));
    counted_to_ = at;
    return {file_, line_};
  }

  simdjson::padded_string_view text_;
  const std::string& file_;
  const std::atomic<bool>* cancelled_;
  od::parser parser_;
  od::document document_;
  bool opened_ = false;  ///< else the document has no place
  Diagnostics errors_;
  TraceBuilder builder_;
  const char* counted_to_;
  int line_ = 1;
};

}  // namespace

Trace parse_trace(std::string_view text, const std::string& file,
                  const std::atomic<bool>* cancelled) {
  const simdjson::padded_string padded(text);
  return TraceReader(padded, file, cancelled).read();
}

Trace read_trace(const std::string& file, const std::atomic<bool>* cancelled) {
  return parse_trace(read_file(file), file, cancelled);
}

}  // namespace strata
