#pragma once

// What a step keeps in memory and what each task does there. The Plan owns every buffer; how long
// one lives, peak memory, the order between steps and what an executor allocates follow from the
// operands. Values.

#include <cstdint>
#include <string_view>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/geometry/geometry.h"

namespace strata {

using BufferId = Index<struct BufferTag>;
/// Numbers what Plan::box() gives.
using BoxId = Index<struct BoxTag>;

enum class BufferKind : std::uint8_t {
  parameters,
  optimizer_state,      ///< what the optimizer keeps of a shard's parameters
  parameter_gradients,  ///< a shard's, or a bucket's
  server_gradients,     ///< a replica's, arrived at the parameter server
  round_gradients,      ///< a bucket's of one round, of which replicas keep an interval each
  gathered_parameters,  ///< a bucket's for one pass, of which replicas keep an interval each
  activation,           ///< a shard's output
  partial_output,       ///< what some terms of its sums come to, a shard's own or arrived
  saved,                ///< what its forward pass keeps for its backward beside that
  data,                 ///< what a shard reads of a network input
  input,                ///< what a shard gathers of one input
  statistics,           ///< a shard's part, then all shards' combined
  activation_gradient,  ///< of what a shard read of one input
  received_gradient,    ///< of a shard's output, from one reader: the boxes of that transfer
  gathered_gradient     ///< of a shard's output: the sum of what its readers give back
};

/// For people: "gathered input".
std::string_view name(BufferKind kind);

/// Memory on a device, from the start of the first task that uses it to the end of the last.
/// It holds boxes of one tensor, one after another (Plan::boxes()), or plain values.
struct Buffer {
  DeviceId device;
  BufferKind kind = BufferKind::activation;
  std::uint8_t element_bytes = 4;  ///< of an element of a box
  Bytes bytes = {};
  LayerId layer = {};
  std::uint32_t shard = 0;  ///< of the layer
  std::uint32_t input = 0;  ///< data, input, activation_gradient: which
  std::int64_t values = 0;  ///< how many, where it holds no boxes
  std::uint32_t first_box = 0, last_box = 0;

  /// Parameters and what is kept of them are there from the start and stay.
  bool lasts() const {
    return kind == BufferKind::parameters || kind == BufferKind::optimizer_state;
  }
  bool operator==(const Buffer&) const = default;
};

/// One box of a buffer, or its values; invalid for none.
struct View {
  BufferId buffer;
  std::uint32_t box = 0;
  bool valid() const { return buffer.valid(); }
  bool operator==(const View&) const = default;
};

/// Values of a buffer, from the number `first` on: a layer's gradients in a bucket.
struct Values {
  BufferId buffer;
  std::int64_t first = 0;
  bool operator==(const Values&) const = default;
};

/// What a buffer is to the kernel of a task.
enum class Role : std::uint8_t {
  input,
  output,
  output_gradient,
  input_gradient,
  parameters,
  parameter_gradients,
  optimizer_state,
  statistics,
  saved
};

enum class Access : std::uint8_t { read, write, update };

/// A buffer that a compute task's kernel works on.
struct Operand {
  BufferId buffer;
  std::uint32_t input = 0;  ///< input, input_gradient: of which of the layer's inputs
  Role role = Role::input;
  Access access = Access::read;
  std::int64_t first = 0;   ///< of values: where they begin in the buffer
  std::int64_t values = 0;  ///< of an update by intervals: how many; else the shard's
  bool operator==(const Operand&) const = default;
};

/// A box, or values, that a task moves: what arrives in a transfer, or what a compute task puts
/// together on its device before its kernel runs. A first backward task and a parameter server's
/// update add up what they move; others copy it.
struct Piece {
  DeviceId from;
  BoxId box;  ///< in the coordinates of the producer's output; invalid where the piece stands for
              ///< several boxes, or for values
  Bytes bytes;
  View source = {}, target = {};
  bool operator==(const Piece&) const = default;
};

/// Of a plan that can be run: a parameter server's, whose buffers hold no boxes.
inline bool moves_values(const Piece& piece) {
  return !piece.box.valid();
}

}  // namespace strata
