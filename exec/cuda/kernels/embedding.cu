// A shard of an embedding has the vectors of some numbers, of each the channels of its box; other
// numbers are zeros here. Of position embeddings it has all positions of its channels.

#include <algorithm>
#include <limits>
#include <variant>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/number_code.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

/// The numbers of a shard's positions.
template <class T>
struct TokenNumbers {
  const T* numbers;
  std::int64_t first, count;  ///< of which the shard has the vectors
  bool coded;

  /// Which of the shard's vectors a position has, or -1.
  STRATA_ANYWHERE std::int64_t vector_of(std::int64_t position) const {
    if constexpr (std::is_same_v<T, Bf16>) {
      if (coded) {
        const std::int64_t place = number_of(numbers[position]) - first;
        return place < 0 || place >= count ? -1 : place;
      }
    }
    const float number = static_cast<float>(numbers[position]) + 0.5F - static_cast<float>(first);
    const bool is_here = number >= 0 && number < static_cast<float>(count);
    return is_here ? static_cast<std::int64_t>(number) : -1;
  }
};

template <class T, int width>
struct LookUp {
  TokenNumbers<T> tokens;
  const Pack<float, width>* vectors;
  Pack<T, width>* y;
  std::int64_t packs;  ///< in a vector
  float scale;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient position(i, packs);
    const std::int64_t vector = tokens.vector_of(position.whole);
    Pack<T, width> values{};
    if (vector >= 0) {
      const Pack<float, width> own = vectors[vector * packs + position.rest];
      for (int lane = 0; lane < width; ++lane) values.values[lane] = T(own.values[lane] * scale);
    }
    y[i] = values;
  }
};

/// A team for each vector: each of its threads looks for the number among positions of its own, and
/// all add what was found, the first position first.
template <class T>
struct SumVectors {
  TokenNumbers<T> tokens;
  const T* dy;
  float* gradients;
  std::int64_t positions, features;
  float scale;
  bool adds;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t vector) const {
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    float* const to = gradients + vector * features;
    if (!adds) {
      for (std::int64_t c = team.rank(); c < features; c += team.size()) to[c] = 0;
    }
    std::int64_t own = next(vector, team.rank(), team.size());
    while (true) {
      const std::int64_t position = -team.largest(-own);
      if (position == kNone) return;
      const T* const from = dy + position * features;
      for (std::int64_t c = team.rank(); c < features; c += team.size()) {
        to[c] += static_cast<float>(from[c]) * scale;
      }
      if (own == position) own = next(vector, own + team.size(), team.size());
    }
  }

 private:
  /// The first position of that number, from `position` on in such steps.
  STRATA_ANYWHERE std::int64_t next(std::int64_t vector, std::int64_t position,
                                    std::int64_t step) const {
    for (; position < positions; position += step) {
      if (tokens.vector_of(position) == vector) return position;
    }
    return std::numeric_limits<std::int64_t>::max();
  }
};

template <class T>
class EmbeddingKernel : public PhasedKernel {
 public:
  EmbeddingKernel(Seat& seat, const ShardSpec& spec, const Embedding& op)
      : seat_(seat),
        is_data_(holds_numbers(*spec.graph, (*spec).inputs[0])),
        numbers_(intersect(spec.output.terms, {0, (*spec).reduction})),
        features_(spec.output[Dim::c].size()),
        positions_(volume(spec.output) / features_),
        scale_(static_cast<float>(op.scale)) {}

 private:
  TokenNumbers<T> tokens(const Operands& operands) const {
    return {static_cast<const T*>(operands.inputs[0].data), numbers_.begin, numbers_.size(),
            is_data_ && seat_.codes_numbers()};
  }

  void forward(const Operands& operands) override {
    const Tensor<T> y(operands.output);
    with_width<T>({features_}, [&](auto width) {
      each(seat_.stream(), positions_ * features_ / width,
           LookUp<T, width>{tokens(operands),
                            reinterpret_cast<const Pack<float, width>*>(operands.parameters),
                            packed<width>(y).data, features_ / width, scale_});
    });
  }

  void backward_data(const Operands& operands) override {
    const Region& dx = operands.input_gradients[0];
    if (operands.adds_input_gradients) return;
    clear(dx.data, volume(dx.box) * size_of(seat_.type()), seat_.stream());
  }

  void backward_weights(const Operands& operands) override {
    teams(seat_.stream(), numbers_.size(),
          SumVectors<T>{tokens(operands), static_cast<const T*>(operands.output_gradient.data),
                        operands.parameter_gradients, positions_, features_, scale_,
                        operands.adds_parameter_gradients});
  }

  void update(const Operands& operands) override {
    update_parameters(operands, numbers_.size() * features_, seat_);
  }

  Seat& seat_;
  bool is_data_;  ///< what it reads
  Interval numbers_;
  std::int64_t features_, positions_;
  float scale_;
};

/// Rows of all positions for each channel, and the positions of a shard.
struct PositionRows {
  std::int64_t positions, first;  ///< of the layer; the shard's first
  std::int64_t samples, width, channels;

  STRATA_ANYWHERE std::int64_t count() const { return width * channels; }
  /// The parameter of place i of a sample.
  STRATA_ANYWHERE std::int64_t parameter_of(std::int64_t i) const {
    const Quotient position(i, channels);
    return position.rest * positions + first + position.whole;
  }
};

/// A thread has one place of every sample.
template <class T>
struct AddPositions {
  PositionRows rows;
  const T* x;
  const float* parameters;
  T* y;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const float vector = parameters[rows.parameter_of(i)];
    for (std::int64_t n = 0; n < rows.samples; ++n) {
      const std::int64_t place = n * rows.count() + i;
      y[place] = T(static_cast<float>(x[place]) + vector);
    }
  }
};

template <class T>
struct SumPositions {
  PositionRows rows;
  const T* dy;
  float* gradients;
  bool adds;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    float& to = gradients[rows.parameter_of(i)];
    float sum = adds ? to : 0;
    for (std::int64_t n = 0; n < rows.samples; ++n) {
      sum += static_cast<float>(dy[n * rows.count() + i]);
    }
    to = sum;
  }
};

template <class T>
class PositionEmbeddingKernel : public PhasedKernel {
 public:
  PositionEmbeddingKernel(Seat& seat, const ShardSpec& spec)
      : seat_(seat), count_(shard_parameters(*spec, spec.output).weight) {
    const Places size = places(spec.output);
    rows_ = {count_ / size.c, spec.output[Dim::w].begin, size.n, size.w, size.c};
  }

 private:
  void forward(const Operands& operands) override {
    each(seat_.stream(), rows_.count(),
         AddPositions<T>{rows_, static_cast<const T*>(operands.inputs[0].data), operands.parameters,
                         static_cast<T*>(operands.output.data)});
  }

  void backward_data(const Operands& operands) override {
    const Region& dy = operands.output_gradient;
    copy_box(operands.input_gradients[0], dy, dy.box, seat_.type(), seat_.stream());
  }

  void backward_weights(const Operands& operands) override {
    float* const gradients = operands.parameter_gradients;
    const bool adds = operands.adds_parameter_gradients;
    if (!adds && rows_.positions != rows_.width) {
      clear(gradients, count_ * static_cast<std::int64_t>(sizeof(float)), seat_.stream());
    }
    each(seat_.stream(), rows_.count(),
         SumPositions<T>{rows_, static_cast<const T*>(operands.output_gradient.data), gradients,
                         adds});
  }

  void update(const Operands& operands) override { update_parameters(operands, count_, seat_); }

  Seat& seat_;
  std::int64_t count_;  ///< parameters
  PositionRows rows_{};
};

}  // namespace

bool holds_numbers(const Graph& graph, LayerId layer) {
  const std::span<const LayerId> readers = graph.consumers(layer);
  const auto embeds = [&](LayerId reader) {
    return std::holds_alternative<Embedding>(graph[reader].op);
  };
  return std::holds_alternative<Input>(graph[layer].op) && !readers.empty() &&
         std::all_of(readers.begin(), readers.end(), embeds);
}

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Embedding& op) {
  return make_of_type<EmbeddingKernel>(seat.type(), seat, spec, op);
}

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const PositionEmbedding&) {
  return make_of_type<PositionEmbeddingKernel>(seat.type(), seat, spec);
}

}  // namespace strata::cuda
