#include "exec/cpu/move.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "exec/cpu/combine.h"

namespace strata::cpu {
namespace {

/// Memory that holds `box` in channel blocks: a tensor, or a plain array (blocks of one channel).
struct View {
  float* data = nullptr;
  Box box;
  std::int64_t block = 1;

  std::int64_t channel_in_block(std::int64_t c) const { return (c - box[Dim::c].begin) % block; }
  std::int64_t unused() const { return (block - box[Dim::c].size() % block) % block; }

  /// By global coordinates.
  float* at(std::int64_t n, std::int64_t c, std::int64_t d, std::int64_t h, std::int64_t w) const {
    const std::int64_t channel = c - box[Dim::c].begin;
    const std::int64_t blocks = (box[Dim::c].size() + block - 1) / block;
    std::int64_t place = (n - box[Dim::n].begin) * blocks + channel / block;
    place = place * box[Dim::d].size() + d - box[Dim::d].begin;
    place = place * box[Dim::h].size() + h - box[Dim::h].begin;
    place = place * box[Dim::w].size() + w - box[Dim::w].begin;
    return data + place * block + channel % block;
  }
};

// Without spatial extent all of a sample's channels lie side by side, as if in one block.
View view(const Tensor& tensor) {
  const bool flat = tensor.plane() == 1;
  return {tensor.data(), tensor.box(), flat ? tensor.blocks() * tensor.block() : tensor.block()};
}

/// Read only, whatever its type says.
View view(const float* plain, const Box& box) {
  const bool flat = box[Dim::d].size() * box[Dim::h].size() * box[Dim::w].size() == 1;
  return {const_cast<float*>(plain), box, flat ? box[Dim::c].size() : 1};
}

/// Neighbours along w (and h, d, where the box holds all that both memories do) taken at once.
struct Lines {
  Interval d, h;
  std::int64_t places;
};

bool aligned(const View& to, const View& from, std::int64_t channel) {
  return to.block == from.block && to.channel_in_block(channel) == from.channel_in_block(channel);
}

// What is not aligned goes over a block's memory once per run of channels: short rows stay in the
// first cache.
constexpr std::int64_t kCachedPlaces = 512;

Lines lines_of(const View& to, const View& from, const Box& box) {
  Lines lines{box[Dim::d], box[Dim::h], box[Dim::w].size()};
  const std::int64_t most = aligned(to, from, box[Dim::c].begin) ? volume(box) + 1 : kCachedPlaces;
  const auto whole = [&](Dim dim) { return box[dim] == to.box[dim] && box[dim] == from.box[dim]; };
  if (!whole(Dim::w) || lines.places * lines.h.size() > most) return lines;
  lines.places *= lines.h.size();
  lines.h.end = lines.h.begin + 1;
  if (!whole(Dim::h) || lines.places * lines.d.size() > most) return lines;
  lines.places *= lines.d.size();
  lines.d.end = lines.d.begin + 1;
  return lines;
}

struct Assign {
  void operator()(float& to, float from) const { to = from; }
};
struct Accumulate {
  void operator()(float& to, float from) const { to += from; }
};

/// `channels` neighbours at each of `places`, each memory with its own step from place to place.
template <int channels, class Put>
void strided(float* to, std::int64_t to_step, const float* from, std::int64_t from_step,
             std::int64_t places, Put put) {
  for (std::int64_t p = 0; p < places; ++p, to += to_step, from += from_step) {
    for (int c = 0; c < channels; ++c) put(to[c], from[c]);
  }
}

template <class Put>
void strided(float* to, std::int64_t to_step, const float* from, std::int64_t from_step,
             std::int64_t channels, std::int64_t places, Put put) {
  if (channels == 1) return strided<1>(to, to_step, from, from_step, places, put);
  if (channels == 8) return strided<8>(to, to_step, from, from_step, places, put);
  for (std::int64_t p = 0; p < places; ++p, to += to_step, from += from_step) {
    for (std::int64_t c = 0; c < channels; ++c) put(to[c], from[c]);
  }
}

template <class Put>
void move_run(float* to, std::int64_t to_step, const float* from, std::int64_t from_step,
              std::int64_t channels, std::int64_t places, Put put) {
  if (channels != to_step || channels != from_step) {
    return strided(to, to_step, from, from_step, channels, places, put);
  }
  for (std::int64_t i = 0; i < channels * places; ++i) put(to[i], from[i]);
}

void move_run(float* to, std::int64_t to_step, const float* from, std::int64_t from_step,
              std::int64_t channels, std::int64_t places, Assign put) {
  if (channels != to_step || channels != from_step) {
    return strided(to, to_step, from, from_step, channels, places, put);
  }
  std::memcpy(to, from, static_cast<std::size_t>(channels * places) * sizeof(float));
}

void zero_unused(float* last_channel, std::int64_t step, std::int64_t unused, std::int64_t places) {
  for (std::int64_t p = 0; p < places; ++p) {
    std::fill_n(last_channel + p * step + 1, unused, 0.0F);
  }
}

template <class Put>
void move(const View& to, const View& from, const Box& box, Put put) {
  if (empty(box)) return;
  const Lines lines = lines_of(to, from, box);
  const Interval channels = box[Dim::c];
  const std::int64_t unused = channels.end == to.box[Dim::c].end ? to.unused() : 0;
  const std::int64_t w = box[Dim::w].begin;
  const auto move_lines = [&](std::int64_t n, std::int64_t d, std::int64_t h) {
    for (std::int64_t c = channels.begin, run = 0; c < channels.end; c += run) {
      run = std::min({channels.end - c, to.block - to.channel_in_block(c),
                      from.block - from.channel_in_block(c)});
      move_run(to.at(n, c, d, h, w), to.block, from.at(n, c, d, h, w), from.block, run,
               lines.places, put);
    }
    if (unused > 0) {
      zero_unused(to.at(n, channels.end - 1, d, h, w), to.block, unused, lines.places);
    }
  };
  for (std::int64_t n = box[Dim::n].begin; n < box[Dim::n].end; ++n) {
    for (std::int64_t d = lines.d.begin; d < lines.d.end; ++d) {
      for (std::int64_t h = lines.h.begin; h < lines.h.end; ++h) move_lines(n, d, h);
    }
  }
}

}  // namespace

void fill_zero(const Tensor& to) {
  std::fill_n(to.data(), to.padded_size(), 0.0F);
}

void zero_unused(const Tensor& to) {
  const std::int64_t used = to.extents()[Dim::c] - (to.blocks() - 1) * to.block();
  if (used == to.block()) return;
  for (std::int64_t n = 0; n < to.extents()[Dim::n]; ++n) {
    float* const last_channel = to.block_at(n, to.blocks() - 1) + used - 1;
    zero_unused(last_channel, to.block(), to.block() - used, to.plane());
  }
}

void copy(const Tensor& to, const Tensor& from, const Box& box) {
  move(view(to), view(from), box, Assign{});
}

void add(const Tensor& to, const Tensor& from, const Box& box) {
  move(view(to), view(from), box, Accumulate{});
}

void sum(const Tensor& to, std::span<const Tensor> from) {
  if (from.size() == 1 && to.data() != from[0].data()) copy(to, from[0], to.box());
  if (from.size() == 1) return;
  std::vector<const float*> addends;
  for (const Tensor& addend : from) addends.push_back(addend.data());
  combine(Combination::sum, to.data(), addends, {}, 0, to.padded_size());
}

void pack(float* to, const Tensor& from, const Box& box) {
  move(view(to, box), view(from), box, Assign{});
}

void unpack(const Tensor& to, const float* from, const Box& box) {
  move(view(to), view(from, box), box, Assign{});
}

void load(const Tensor& to, const float* plain, const Extents& whole) {
  move(view(to), view(plain, strata::whole(whole)), to.box(), Assign{});
}

void store(float* plain, const Extents& whole, const Tensor& from) {
  move(view(plain, strata::whole(whole)), view(from), from.box(), Assign{});
}

}  // namespace strata::cpu
