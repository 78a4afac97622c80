#include "exec/cuda/kernels/column_sums.h"
#include "exec/cuda/kernels/columns.h"

namespace strata::cuda {
namespace {

template <class T, int width>
struct PlainTerms {
  const Pack<T, width>* values;

  struct Column {
    const Pack<T, width>* values;

    STRATA_ANYWHERE void add(std::int64_t place, ColumnSums<1, width>& sums) const {
      const Pack<T, width> row = values[place];
      for (int lane = 0; lane < width; ++lane) {
        sums.of[0][lane] += static_cast<float>(row.values[lane]);
      }
    }
    STRATA_ANYWHERE void finish(ColumnSums<1, width>&, std::int64_t) const {}
  };
  STRATA_ANYWHERE Column column(std::int64_t, std::int64_t) const { return {values}; }
};

struct PutPlainSum {
  float* to;
  bool adds;
  STRATA_ANYWHERE void operator()(std::int64_t channel, const float (&sums)[1]) const {
    to[channel] = adds ? to[channel] + sums[0] : sums[0];
  }
};

}  // namespace

void column_sums(const Region& of, float* sums, Seat& seat, bool adds) {
  const auto join = [&](const Partials& partials) {
    return JoinSums<1, PutPlainSum>{partials, {sums, adds}};
  };
  with_type(seat.type(), [&]<class T>(T) {
    const Tensor<T> values(of);
    with_width<T>({values.size.c}, [&](auto width) {
      const PlainTerms<T, width> terms{packed<width>(values).data};
      sum_columns<1, width>(values, terms, join, seat);
    });
  });
}

}  // namespace strata::cuda
