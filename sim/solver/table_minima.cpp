#include "sim/solver/table_minima.h"

#include <algorithm>
#include <cstring>

#include "sim/base/parallel.h"
#include "sim/solver/solution.h"

namespace strata {
namespace {

/// Below so many entries a second thread costs more than it brings.
constexpr std::size_t kEntriesPerThread = std::size_t{1} << 18;
constexpr std::size_t kColumnsPerPiece = 512;
constexpr std::size_t kRowsPerPiece = 64;

/// Two lanes: what every x86-64 has. The loops below wait for memory, not for the adder.
using Lanes = double __attribute__((vector_size(16)));
constexpr std::size_t kLanes = 2;

Lanes load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

void fold(Lanes& least, Lanes value) {
  least = value < least ? value : least;
}

double lesser(double a, double b) {
  return b < a ? b : a;
}

/// Four rows at a time, so that `least` is read and written a quarter as often.
void fold_rows(const CostTable& table, const std::size_t row[4], const double* add,
               std::size_t begin, std::size_t end, double* least) {
  const double* const r0 = table.row(row[0]);
  const double* const r1 = table.row(row[1]);
  const double* const r2 = table.row(row[2]);
  const double* const r3 = table.row(row[3]);
  const double a0 = add[row[0]], a1 = add[row[1]], a2 = add[row[2]], a3 = add[row[3]];
  for (std::size_t c = begin; c < end; ++c) {
    const double low = lesser(r0[c] + a0, r1[c] + a1);
    const double high = lesser(r2[c] + a2, r3[c] + a3);
    least[c] = lesser(least[c], lesser(low, high));
  }
}

void minima_of_columns(const CostTable& table, const double* add, std::size_t begin,
                       std::size_t end, double* least) {
  std::fill(least + begin, least + end, kInfinity);
  std::size_t waiting[4];
  std::size_t count = 0;
  for (std::size_t r = 0; r < table.rows; ++r) {
    if (add[r] == kInfinity) continue;
    waiting[count++] = r;
    if (count < 4) continue;
    fold_rows(table, waiting, add, begin, end, least);
    count = 0;
  }
  if (count == 0) return;
  std::fill(waiting + count, waiting + 4, waiting[0]);  // the same row again changes no minimum
  fold_rows(table, waiting, add, begin, end, least);
}

double minimum_of_row(const double* row, const double* add, std::size_t columns) {
  Lanes least[4];
  for (Lanes& lanes : least) lanes = Lanes{kInfinity, kInfinity};
  std::size_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    for (std::size_t i = 0; i < 4; ++i) {
      fold(least[i], load(row + c + i * kLanes) + load(add + c + i * kLanes));
    }
  }
  for (std::size_t i = 1; i < 4; ++i) fold(least[0], least[i]);
  double minimum = lesser(least[0][0], least[0][1]);
  for (; c < columns; ++c) minimum = lesser(minimum, row[c] + add[c]);
  return minimum;
}

/// Calls work(begin, end) for pieces of [0, count).
template <class Work>
void in_pieces(std::size_t count, std::size_t piece, std::size_t entries, unsigned threads,
               const Work& work) {
  if (threads == 1 || entries < 2 * kEntriesPerThread) {
    work(std::size_t{0}, count);
    return;
  }
  parallel_for((count + piece - 1) / piece, threads,
               [&](std::size_t i, unsigned) { work(i * piece, std::min(count, (i + 1) * piece)); });
}

}  // namespace

void column_minima(const CostTable& table, const double* add, double* least, unsigned threads) {
  in_pieces(table.columns, kColumnsPerPiece, table.seconds.size(), threads,
            [&](std::size_t begin, std::size_t end) {
              minima_of_columns(table, add, begin, end, least);
            });
}

void row_minima(const CostTable& table, const double* add, double* least, unsigned threads) {
  in_pieces(table.rows, kRowsPerPiece, table.seconds.size(), threads,
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t r = begin; r < end; ++r) {
                least[r] = minimum_of_row(table.row(r), add, table.columns);
              }
            });
}

double least_entry(const CostTable& table) {
  return *std::min_element(table.seconds.begin(), table.seconds.end());
}

}  // namespace strata
