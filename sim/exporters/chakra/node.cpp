#include "sim/exporters/chakra/node.h"

#include <cmath>

namespace strata {
namespace {

// Field numbers of the schema.
constexpr std::uint32_t kVersion = 1, kHeaderAttribute = 2;
constexpr std::uint32_t kId = 1, kName = 2, kType = 3, kControl = 4, kData = 5, kStart = 6,
                        kDuration = 7, kInputs = 8, kAttribute = 10;
constexpr std::uint32_t kAttributeName = 1, kDouble = 3, kInt32 = 7, kInt64 = 9, kUint64 = 13,
                        kBool = 27, kString = 29;
constexpr std::uint32_t kInputValues = 1;
constexpr std::string_view kSchemaVersion = "0.0.4";

WireMessage named(std::string_view name) {
  WireMessage attribute;
  attribute.text(kAttributeName, name);
  return attribute;
}

std::uint64_t whole_micros(Seconds seconds) {
  return static_cast<std::uint64_t>(std::llround(seconds.value * 1e6));
}

// The engine counts picoseconds, so three decimals are all there is.
double nanos(Seconds seconds) {
  return std::round(seconds.value * 1e12) / 1e3;
}

}  // namespace

WireMessage int32_attribute(std::string_view name, std::int32_t value) {
  return named(name).number(kInt32, static_cast<std::uint64_t>(value));
}

WireMessage int64_attribute(std::string_view name, std::int64_t value) {
  return named(name).number(kInt64, static_cast<std::uint64_t>(value));
}

WireMessage uint64_attribute(std::string_view name, std::uint64_t value) {
  return named(name).number(kUint64, value);
}

WireMessage double_attribute(std::string_view name, double value) {
  return named(name).real(kDouble, value);
}

WireMessage bool_attribute(std::string_view name, bool value) {
  return named(name).number(kBool, value ? 1 : 0);
}

WireMessage string_attribute(std::string_view name, std::string_view value) {
  return named(name).text(kString, value);
}

std::string print_node(ChakraNode node, const Span& span) {
  node.attributes.push_back(double_attribute("start_nanos", nanos(span.start)));
  node.attributes.push_back(double_attribute("duration_nanos", nanos(span.duration())));
  WireMessage message;
  message.number(kId, node.id)
      .text(kName, node.name)
      .number(kType, static_cast<std::uint64_t>(node.type))
      .numbers(kControl, node.prepared)
      .numbers(kData, node.after)
      .number(kStart, whole_micros(span.start))
      .number(kDuration, whole_micros(span.duration()));
  if (!node.inputs.empty()) message.message(kInputs, WireMessage().text(kInputValues, node.inputs));
  for (const WireMessage& attribute : node.attributes) message.message(kAttribute, attribute);
  return message.delimited();
}

std::string print_chakra_header(const std::vector<WireMessage>& attributes) {
  WireMessage header;
  header.text(kVersion, kSchemaVersion);
  for (const WireMessage& attribute : attributes) header.message(kHeaderAttribute, attribute);
  return header.delimited();
}

}  // namespace strata
