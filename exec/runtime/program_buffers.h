#pragma once

// The buffers of a program and which of them stands for what: a layer's output, what a shard reads
// of an input, a gradient. Internal to exec/runtime.

#include <map>
#include <tuple>
#include <vector>

#include "exec/runtime/program.h"

namespace strata {

class ProgramBuffers {
 public:
  ProgramBuffers(const Graph& graph, const Plan& plan);

  const std::vector<ProgramBuffer>& all() const { return buffers_; }
  std::vector<ProgramBuffer> take() && { return std::move(buffers_); }
  /// By task: the buffers that it lets go of.
  const std::vector<std::vector<BufferId>>& released() const { return released_; }

  Slot output(LayerId layer, std::size_t shard) const;
  /// The regions that a shard reads of one input; one invalid slot where it needs nothing.
  std::vector<Slot> inputs(LayerId layer, std::size_t input, std::size_t shard) const;
  /// Where the gradients of those regions go; invalid slots where none is wanted.
  std::vector<Slot> input_gradients(LayerId layer, std::size_t input, std::size_t shard) const;
  /// What the backward phases of a shard read.
  Slot output_gradient(LayerId layer, std::size_t shard) const;
  /// The parts that its readers give back, in the order of the readers.
  std::vector<std::pair<Slot, Box>> gradient_parts(LayerId layer, std::size_t shard) const;
  /// The buffer of the parts' sum; invalid where one part stands for it.
  Slot gathered_gradient(LayerId layer, std::size_t shard) const;
  /// The box of the buffer that holds `box`.
  Slot holding(const std::vector<Slot>& slots, const Box& box) const;

  BufferId parameters(LayerId layer, std::size_t shard) const;
  BufferId parameter_gradients(LayerId layer, std::size_t shard) const;
  BufferId statistics(LayerId layer, Phase phase, std::size_t shard) const;
  /// The buffer that a transfer fills: a received gradient, or one sent to a server.
  BufferId arrived(TaskId transfer) const;

  const Box& box(Slot slot) const { return buffers_[slot.buffer()].boxes[slot.box]; }
  Box shard_box(LayerId layer, std::size_t shard) const;
  DeviceId device(LayerId layer, std::size_t shard) const {
    return plan_.placement(layer).devices[shard];
  }
  /// The shard of the layer that lies on the device.
  std::size_t shard_on(LayerId layer, DeviceId device) const;
  bool is_network_input(LayerId layer) const;

 private:
  using Key = std::tuple<BufferKind, LayerId, std::uint32_t, std::uint32_t>;
  void add(const Buffer& buffer);
  void describe(const Buffer& buffer, ProgramBuffer& result) const;
  void add_statistics();
  void index_returns();
  BufferId find(BufferKind kind, LayerId layer, std::size_t shard, std::size_t input = 0) const;
  std::vector<Slot> slots_of(BufferId buffer) const;
  const NeededBox* lies_at(LayerId layer, std::size_t input, std::size_t shard) const;
  std::vector<LayerId> readers(LayerId layer) const;
  Slot received(LayerId reader, std::size_t input, const NeededBox& needed) const;

  const Graph& graph_;
  const Plan& plan_;
  std::vector<bool> requires_gradient_;
  std::vector<ProgramBuffer> buffers_;
  std::vector<std::vector<BufferId>> released_;
  std::map<Key, BufferId> by_key_;
  std::map<TaskId, BufferId> arrived_;
  /// (reader, input, reader's device, producer's shard): the transfer that brings gradients back.
  std::map<std::tuple<LayerId, std::uint32_t, DeviceId, std::uint32_t>, TaskId> returns_;
  std::map<std::tuple<LayerId, Phase, std::size_t>, BufferId> statistics_;
};

}  // namespace strata
