#pragma once

// Products of matrices that lie as tensors' channels do, and the two halves of an attention that
// are made of them, built once per instruction set; which one runs is decided at run time. B is
// vector_block(). Pointers need no alignment. Immutable tables; thread-safe.

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::cpu {

/// Element (row, column) lies at row * `row` + (column / B) * `block` + column % B: of a tensor
/// (positions, channels in blocks) `row` is B, of a plain row-major matrix `block` is B.
template <class T>
struct BlockMatrix {
  T* data = nullptr;
  std::int64_t row = 0, block = 0;
};
using ConstBlockMatrix = BlockMatrix<const float>;

struct ProductExtents {
  std::int64_t rows = 0, depth = 0, columns = 0;
};

/// What a dropout leaves of a softmax's weights: zero, or the weight times 1 / (1 - probability).
class WeightDropout {
 public:
  virtual ~WeightDropout() = default;
  virtual void apply(float* weights, std::int64_t stride, std::int64_t keys, std::int64_t query,
                     std::int64_t key) const = 0;
};

/// One head of queries, and the head of keys and values that serves it. Matrices (positions,
/// channels) begin a block of channels where the one before ends; channels are whole blocks.
struct AttentionHead {
  std::int64_t queries = 0, keys = 0;
  std::int64_t channels = 0;        ///< of queries and keys
  std::int64_t value_channels = 0;  ///< of values and the output
  /// Causal: query i sees the keys up to i + `last_key`, and of them the last `window` (0: all).
  std::int64_t last_key = 0, window = 0;
  bool causal = false;
  float softcap = 0;  ///< of the products q k^T, where it is not 0
  /// A score without a key, or none.
  std::optional<float> sink = {};
  /// Or null: what is added to the product of query i and key j is by_distance[j - i].
  const float* by_distance = nullptr;
  const float *q = nullptr, *k = nullptr, *v = nullptr;  ///< queries scaled
  /// Transposed: (channels, keys), whose keys are whole blocks, zero beyond the last.
  const float *k_transposed = nullptr, *v_transposed = nullptr;
  float* workspace = nullptr;  ///< kAttentionWorkspace floats
  /// Or null. Of a query, `keys` weights from `key` on, a block of them `stride` floats after the
  /// one before.
  const WeightDropout* dropout = nullptr;
};

/// What the backward half reads beside, and where its sums go.
struct AttentionGradients {
  const float* dy = nullptr;
  const float* log_sums = nullptr;  ///< of each query, as the forward half made them
  const float* products = nullptr;  ///< of each query, dy . y
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;  ///< dq of the scaled queries
  /// Or null: of what is added to the products, likewise; added to what lies there.
  float* by_distance = nullptr;
};

struct BlockProducts {
  const char* name;
  std::int64_t lanes;  ///< B
  /// c = a b, or c += a b. a: rows x depth, with `row` = B; c's last block is written whole, from
  /// what b has there.
  void (*product)(const ProductExtents& e, ConstBlockMatrix a, ConstBlockMatrix b,
                  BlockMatrix<float> c, bool adds);
  /// c = the sum over samples of a^T b, or c += it. a: depth x rows, b: depth x columns, both with
  /// `row` = B; those of a sample begin `a_sample` and `b_sample` floats after the last one's. Of c
  /// the columns alone are written.
  void (*transposed_product)(const ProductExtents& e, std::int64_t samples, ConstBlockMatrix a,
                             std::int64_t a_sample, ConstBlockMatrix b, std::int64_t b_sample,
                             BlockMatrix<float> c, bool adds);
  /// to = from^T for B columns of `to`: from has up to B rows, to as many as from has columns, each
  /// of B with zeros behind the last. `from` is plain, `row` floats from row to row.
  void (*transpose)(const float* from, std::int64_t row, std::int64_t rows, std::int64_t columns,
                    float* to);
  /// to = from, plain as there, in blocks of columns with zeros behind the last.
  void (*divide)(const float* from, std::int64_t row, std::int64_t rows, std::int64_t columns,
                 float* to);

  /// y = softmax(q k^T) v, the products softcapped where that is wanted, over the keys that are
  /// seen, and the logarithm of each softmax's sum.
  void (*attend)(const AttentionHead& head, float* y, float* log_sums);
  /// Writes dq, adds to dk and dv.
  void (*attend_backward)(const AttentionHead& head, const AttentionGradients& gradients);
};

/// Floats of an AttentionHead's workspace.
inline constexpr std::int64_t kAttentionWorkspace = 32768;

/// The fastest that this machine runs; its lanes are vector_block().
const BlockProducts& block_products();
/// All that this machine runs.
std::vector<const BlockProducts*> all_block_products();

}  // namespace strata::cpu
