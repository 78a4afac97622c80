#include "exec/cuda/tensor/feature_rows.h"

namespace strata::cuda {
namespace {

/// Where element i of the tensor stands among the rows.
struct RowPlace {
  std::int64_t positions, channels;  ///< of a sample

  STRATA_ANYWHERE std::int64_t operator()(std::int64_t i) const {
    const Quotient position(i, channels), sample(position.whole, positions);
    return (sample.whole * channels + position.rest) * positions + sample.rest;
  }
};

RowPlace row_place(const Box& box) {
  const Places size = places(box);
  return {size.positions() / size.n, size.c};
}

template <class T>
struct ToRows {
  const T* tensor;
  T* rows;
  RowPlace place;
  STRATA_ANYWHERE void operator()(std::int64_t i) const { rows[place(i)] = tensor[i]; }
};

template <class T>
struct FromRows {
  const T* rows;
  T* tensor;
  RowPlace place;
  STRATA_ANYWHERE void operator()(std::int64_t i) const { tensor[i] = rows[place(i)]; }
};

}  // namespace

bool is_rows(const Box& box) {
  const Places size = places(box);
  return size.c == 1 || size.positions() == size.n;
}

void to_rows(const Region& tensor, void* rows, Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) {
    each(stream, volume(tensor.box),
         ToRows<T>{static_cast<const T*>(tensor.data), static_cast<T*>(rows),
                   row_place(tensor.box)});
  });
}

void from_rows(const void* rows, const Region& tensor, Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) {
    each(stream, volume(tensor.box),
         FromRows<T>{static_cast<const T*>(rows), static_cast<T*>(tensor.data),
                     row_place(tensor.box)});
  });
}

}  // namespace strata::cuda
