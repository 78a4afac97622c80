#pragma once

// One node of a Chakra execution trace (MLCommons' schema, et_def.proto): what a device does, what
// it waits for, when, and attributes by name. Attributes have the types that feeders of simulators
// read.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/exporters/chakra/wire.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// The schema's numbers.
enum class NodeType : std::uint8_t {
  metadata = 1,
  compute = 4,
  send = 5,
  receive = 6,
  collective = 7
};
enum class CollectiveType : std::uint8_t {
  all_reduce = 0,
  all_gather = 2,
  all_to_all = 6,
  reduce_scatter = 7
};

/// One named value of a node or of the file.
WireMessage int32_attribute(std::string_view name, std::int32_t value);
WireMessage int64_attribute(std::string_view name, std::int64_t value);
WireMessage uint64_attribute(std::string_view name, std::uint64_t value);
WireMessage double_attribute(std::string_view name, double value);
WireMessage bool_attribute(std::string_view name, bool value);
WireMessage string_attribute(std::string_view name, std::string_view value);

struct ChakraNode {
  std::uint64_t id = 0;  ///< within its file
  std::string name;
  NodeType type = NodeType::compute;
  std::vector<std::uint64_t> after;     ///< data dependencies
  std::vector<std::uint64_t> prepared;  ///< control dependencies
  std::string inputs;                   ///< of a metadata node: what it tells
  std::vector<WireMessage> attributes;
};

/// With the span's start and duration: in whole microseconds, as the schema has it, and in
/// nanoseconds as attributes.
std::string print_node(ChakraNode node, const Span& span);
/// The first message of a file.
std::string print_chakra_header(const std::vector<WireMessage>& attributes);

}  // namespace strata
