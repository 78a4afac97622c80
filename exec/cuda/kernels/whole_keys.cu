#include "exec/cuda/kernels/whole_keys.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {
namespace {

/// Sizes of keys: heads of `own` and `shared` channels at each position.
struct KeySizes {
  std::int64_t positions, heads, own, shared;

  static KeySizes of(const Region& own, const Region& shared, std::int64_t head_size) {
    const std::int64_t of_all = shared.box[Dim::c].size(), of_head = head_size - of_all;
    return {volume(shared.box) / of_all, own.box[Dim::c].size() / of_head, of_head, of_all};
  }
  STRATA_ANYWHERE std::int64_t whole() const { return own + shared; }
};

template <class T>
struct JoinKeys {
  KeySizes sizes;
  T* to;
  const T* own;
  const T* shared;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient head(i, sizes.whole()), position(head.whole, sizes.heads);
    const bool is_own = head.rest < sizes.own;
    to[i] = is_own ? own[head.whole * sizes.own + head.rest]
                   : shared[position.whole * sizes.shared + head.rest - sizes.own];
  }
};

template <class T>
struct TakeOwn {
  KeySizes sizes;
  T* own;
  const T* from;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient head(i, sizes.own);
    own[i] = from[head.whole * sizes.whole() + head.rest];
  }
};

template <class T>
struct SumShared {
  KeySizes sizes;
  T* shared;
  const T* from;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient position(i, sizes.shared);
    float sum = 0;
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      const std::int64_t key = (position.whole * sizes.heads + head) * sizes.whole();
      sum += static_cast<float>(from[key + sizes.own + position.rest]);
    }
    shared[i] = T(sum);
  }
};

}  // namespace

void join_keys(const Region& to, const Region& own, const Region& shared, std::int64_t head_size,
               Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) {
    each(stream, volume(to.box),
         JoinKeys<T>{KeySizes::of(own, shared, head_size), static_cast<T*>(to.data),
                     static_cast<const T*>(own.data), static_cast<const T*>(shared.data)});
  });
}

void part_keys(const Region& from, const Region& own, const Region& shared, std::int64_t head_size,
               Type type, Stream& stream) {
  const KeySizes sizes = KeySizes::of(own, shared, head_size);
  with_type(type, [&]<class T>(T) {
    const auto* const whole = static_cast<const T*>(from.data);
    if (own.data != nullptr) {
      each(stream, volume(own.box), TakeOwn<T>{sizes, static_cast<T*>(own.data), whole});
    }
    if (shared.data != nullptr) {
      each(stream, volume(shared.box), SumShared<T>{sizes, static_cast<T*>(shared.data), whole});
    }
  });
}

}  // namespace strata::cuda
