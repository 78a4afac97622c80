#include <cassert>
#include <cmath>
#include <type_traits>

#include "exec/cuda/tensor/move.h"

namespace strata::cuda {
namespace {

// As many addends as one loop takes at once; more go by several.
constexpr std::size_t kMostParts = kMostCombined;

template <class T, int width, bool adds>
struct MoveBox {
  Tensor<Pack<T, width>> to, from;
  Places size, to_begin, from_begin;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Places at = size.at(i);
    Pack<T, width>& target = to.at(at + to_begin);
    const Pack<T, width> source = from.at(at + from_begin);
    if constexpr (adds) {
      Pack<T, width> sum = target;
      for (int k = 0; k < width; ++k) {
        sum.values[k] = T(static_cast<float>(sum.values[k]) + static_cast<float>(source.values[k]));
      }
      target = sum;
    } else {
      target = source;
    }
  }
};

template <class T, bool adds>
void move_box(const Region& to, const Region& from, const Box& box, Stream& stream) {
  const Tensor<T> target(to), source(from);
  const Places size = places(box), to_begin = begin_of(box) - begin_of(to.box),
               from_begin = begin_of(box) - begin_of(from.box);
  with_width<T>({size.c, target.size.c, source.size.c, to_begin.c, from_begin.c}, [&](auto width) {
    MoveBox<T, width, adds> loop{packed<width>(target), packed<width>(source), size, to_begin,
                                 from_begin};
    loop.size.c /= width, loop.to_begin.c /= width, loop.from_begin.c /= width;
    each(stream, loop.size.count(), loop);
  });
}

template <class T, int width>
struct SumWhole {
  using Packed = Pack<T, width>;
  Packed* to;
  const Packed* from[kMostParts];
  int parts;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    float sums[width] = {};
    for (int part = 0; part < parts; ++part) {
      const Packed pack = from[part][i];
      for (int k = 0; k < width; ++k) sums[k] += static_cast<float>(pack.values[k]);
    }
    Packed sum;
    for (int k = 0; k < width; ++k) sum.values[k] = T(sums[k]);
    to[i] = sum;
  }
};

template <class T>
void sum_all(const Region& to, std::span<const Region> from, Stream& stream) {
  assert(from.size() <= kMostParts);
  with_width<T>({volume(to.box)}, [&](auto width) {
    using Packed = Pack<T, width>;
    SumWhole<T, width> loop{static_cast<Packed*>(to.data), {}, static_cast<int>(from.size())};
    for (std::size_t k = 0; k < from.size(); ++k) {
      loop.from[k] = static_cast<const Packed*>(from[k].data);
    }
    each(stream, volume(to.box) / width, loop);
  });
}

/// A plain array, n c d h w.
template <class Value>
struct Plain {
  Value* data;
  Places size;
  STRATA_ANYWHERE Value& at(const Places& p) const {
    return data[(((p.n * size.c + p.c) * size.d + p.d) * size.h + p.h) * size.w + p.w];
  }
};

/// From a Tensor to a Plain, or back.
template <class To, class From>
struct ConvertBox {
  To to;
  From from;
  Places size, to_begin, from_begin;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Places at = size.at(i);
    auto& value = to.at(at + to_begin);
    value = std::remove_reference_t<decltype(value)>(from.at(at + from_begin));
  }
};

template <class To, class From>
void convert_box(const To& to, const Box& to_box, const From& from, const Box& from_box,
                 const Box& box, Stream& stream) {
  const Places size = places(box);
  each(stream, size.count(),
       ConvertBox<To, From>{to, from, size, begin_of(box) - begin_of(to_box),
                            begin_of(box) - begin_of(from_box)});
}

struct Parts {
  const float* values[kMostParts];
  double counts[kMostParts];
  int count;
};

/// By packs, where all lie so that they can.
template <int width>
struct SumParts {
  using Packed = Pack<float, width>;
  float* to;  ///< at `begin`
  Parts parts;
  std::int64_t begin;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    Packed sum = pack(0, i);
    for (int k = 1; k < parts.count; ++k) {
      const Packed more = pack(k, i);
      for (int lane = 0; lane < width; ++lane) sum.values[lane] += more.values[lane];
    }
    reinterpret_cast<Packed*>(to)[i] = sum;
  }

 private:
  STRATA_ANYWHERE Packed pack(int k, std::int64_t i) const {
    return reinterpret_cast<const Packed*>(parts.values[k] + begin)[i];
  }
};

// Chan, Golub and LeVeque (1979): the mean of all, and the squares about it.
struct JoinMoments {
  float* to;
  Parts parts;
  std::int64_t begin;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t at = begin + 2 * i;
    double count = 0, sum = 0, squares = 0;
    for (int k = 0; k < parts.count; ++k) {
      count += parts.counts[k], sum += parts.counts[k] * parts.values[k][at];
    }
    const double mean = count > 0 ? sum / count : 0;
    for (int k = 0; k < parts.count; ++k) {
      const double away = parts.values[k][at] - mean;
      squares += parts.values[k][at + 1] + parts.counts[k] * away * away;
    }
    to[at] = static_cast<float>(mean), to[at + 1] = static_cast<float>(squares);
  }
};

struct JoinExponentials {
  float* to;
  Parts parts;
  std::int64_t begin;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t at = begin + 2 * i;
    float most = parts.values[0][at];
    for (int k = 1; k < parts.count; ++k) {
      most = parts.values[k][at] > most ? parts.values[k][at] : most;
    }
    double sum = 0;
    for (int k = 0; k < parts.count; ++k) {
      sum += parts.values[k][at + 1] * std::exp(static_cast<double>(parts.values[k][at] - most));
    }
    to[at] = most, to[at + 1] = static_cast<float>(sum);
  }
};

Parts parts_of(std::span<const float* const> values, std::span<const std::int64_t> counts) {
  assert(values.size() <= kMostParts);
  Parts parts{{}, {}, static_cast<int>(values.size())};
  for (std::size_t k = 0; k < values.size(); ++k) {
    parts.values[k] = values[k];
    parts.counts[k] = counts.empty() ? 0 : static_cast<double>(counts[k]);
  }
  return parts;
}

void sum_parts(float* to, std::span<const float* const> values, std::int64_t begin,
               std::int64_t end, Stream& stream) {
  const auto place = [&](const float* from) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from) / sizeof(float)) +
           begin;
  };
  std::int64_t crooked = place(to) % 4;
  for (const float* from : values) crooked |= place(from) % 4;
  with_width<float>({crooked, end - begin}, [&](auto width) {
    each(stream, (end - begin) / width, SumParts<width>{to + begin, parts_of(values, {}), begin});
  });
}

}  // namespace

void copy_box(const Region& to, const Region& from, const Box& box, Type type, Stream& stream) {
  if (empty(box)) return;
  if (to.box == box && from.box == box) {
    return copy(to.data, from.data, volume(box) * size_of(type), stream);
  }
  with_type(type, [&]<class T>(T) { move_box<T, false>(to, from, box, stream); });
}

void add_box(const Region& to, const Region& from, const Box& box, Type type, Stream& stream) {
  if (empty(box)) return;
  with_type(type, [&]<class T>(T) { move_box<T, true>(to, from, box, stream); });
}

void sum_whole(const Region& to, std::span<const Region> from, Type type, Stream& stream) {
  if (from.size() > kMostParts) {  // the sum so far is the first part of the next
    sum_whole(to, from.first(kMostParts), type, stream);
    for (const Region& more : from.subspan(kMostParts)) add_box(to, more, to.box, type, stream);
    return;
  }
  with_type(type, [&]<class T>(T) { sum_all<T>(to, from, stream); });
}

void unpack_box(const Region& to, const float* plain, const Box& plain_box, const Box& box,
                Type type, Stream& stream) {
  const Plain<const float> from{plain, places(plain_box)};
  with_type(type,
            [&]<class T>(T) { convert_box(Tensor<T>(to), to.box, from, plain_box, box, stream); });
}

void pack_box(float* plain, const Box& plain_box, const Region& from, const Box& box, Type type,
              Stream& stream) {
  const Plain<float> to{plain, places(plain_box)};
  with_type(type, [&]<class T>(T) {
    convert_box(to, plain_box, Tensor<T>(from), from.box, box, stream);
  });
}

void add_values(float* to, const float* from, std::int64_t count, Stream& stream) {
  const float* const both[] = {to, from};
  sum_parts(to, both, 0, count, stream);
}

void combine_values(Combination how, float* to, std::span<const float* const> parts,
                    std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end,
                    Stream& stream) {
  if (how == Combination::sum) return sum_parts(to, parts, begin, end, stream);
  const std::int64_t pairs = (end - begin) / 2;
  if (how == Combination::moments) {
    return each(stream, pairs, JoinMoments{to, parts_of(parts, counts), begin});
  }
  each(stream, pairs, JoinExponentials{to, parts_of(parts, {}), begin});
}

}  // namespace strata::cuda
