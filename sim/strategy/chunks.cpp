#include "sim/strategy/chunks.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/graph/blocks.h"

namespace strata {
namespace {

std::string parts_text(std::size_t stages, std::size_t chunks_per_stage) {
  return chunks_per_stage == 1
             ? fmt::format("{} stages", stages)
             : fmt::format("{} stages of {} chunks each", stages, chunks_per_stage);
}

// The blocks that make up most of the network: half of its multiply-adds or more, as those of a
// transformer, and three quarters of its layers, as those of no residual network, which has several
// kinds of blocks.
std::optional<Repeat> main_blocks(const Graph& graph) {
  const std::vector<Repeat> blocks = repeated_blocks(graph);
  const auto most = std::max_element(
      blocks.begin(), blocks.end(),
      [](const Repeat& a, const Repeat& b) { return a.length * a.times < b.length * b.times; });
  if (most == blocks.end() || 4 * most->length * most->times < 3 * graph.size()) {
    return std::nullopt;
  }
  std::int64_t inside = 0, outside = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const bool in_block = i >= most->first && i < most->end();
    (in_block ? inside : outside) += macs(graph, LayerId(i));
  }
  return inside >= outside ? std::optional(*most) : std::nullopt;
}

// With how many blocks what stands before and after them counts, so that they divide: none or one.
std::optional<std::size_t> blocks_around(std::size_t blocks, std::size_t chunks) {
  if (chunks > blocks) return std::nullopt;
  if (blocks % chunks == 0) return 0;
  if ((blocks + 2) % chunks == 0) return 1;
  return std::nullopt;
}

[[noreturn]] void refuse(std::size_t blocks, std::size_t stages, std::size_t chunks_per_stage) {
  std::vector<std::string> allowed;
  const std::size_t every = chunks_per_stage > 1 ? stages : 1;  // of a stage as many as of another
  for (std::size_t chunks = std::max<std::size_t>(2, every); chunks <= blocks; chunks += every) {
    if (blocks_around(blocks, chunks)) allowed.push_back(std::to_string(chunks));
  }
  if (allowed.empty()) {
    throw InputError(
        fmt::format("its {} blocks do not divide into {}, nor into other chunks of {} "
                    "stages",
                    blocks, parts_text(stages, chunks_per_stage), stages));
  }
  std::string last = std::move(allowed.back());
  allowed.pop_back();
  if (!allowed.empty()) last = fmt::format("{} or {}", fmt::join(allowed, ", "), last);
  throw InputError(fmt::format("its {} blocks do not divide into {}; allowed: {} {}", blocks,
                               parts_text(stages, chunks_per_stage), last,
                               chunks_per_stage == 1 ? "stages" : "chunks in all"));
}

// `around`: blocks that what stands before them counts as, and what stands after them.
std::vector<std::uint32_t> divide_blocks(const Graph& graph, const Repeat& blocks,
                                         std::size_t chunks, std::size_t around) {
  const std::size_t each = blocks.length * ((blocks.times + 2 * around) / chunks);
  std::vector<std::uint32_t> chunk_of(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::size_t chunk =
        i < blocks.first ? 0 : (i - blocks.first + around * blocks.length) / each;
    chunk_of[i] = static_cast<std::uint32_t>(std::min(chunk, chunks - 1));
  }
  return chunk_of;
}

// The layers that are no inputs, in order, as the first of the two passes below has them. First the
// least possible size of the largest chunk, by bisection; then of all cuts into chunks no larger
// than that the one with the least elements across, chunk by chunk.
class EvenChunks {
 public:
  /// `may_begin`: by layer, whether a chunk may begin with it.
  EvenChunks(const Graph& graph, const std::vector<bool>& may_begin) {
    std::vector<std::size_t> place(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
      place[i] = layers_.size();
      if (is_input(graph[LayerId(i)].op)) continue;
      layers_.emplace_back(i);
      may_cut_.push_back(may_begin[i]);
    }
    may_cut_.push_back(true);
    until_.assign(1, 0);
    for (LayerId layer : layers_) until_.push_back(until_.back() + macs(graph, layer));
    count_crossing(graph, place);
  }

  /// The most chunks.
  std::size_t size() const {
    return static_cast<std::size_t>(std::count(may_cut_.begin() + 1, may_cut_.end(), true));
  }

  // Where each chunk but the first begins.
  std::vector<std::size_t> divide(std::size_t chunks) const {
    const std::int64_t most = least_largest(chunks);
    const std::size_t end = layers_.size();
    std::vector<std::vector<std::uint32_t>> begins(chunks);  // of the last of k + 1 chunks, by end
    std::vector<std::int64_t> least(end + 1, kNone);         // crossing, by where k chunks end
    least[0] = 0;
    for (std::size_t k = 0; k < chunks; ++k) least = add_chunk(least, most, begins[k]);
    std::vector<std::size_t> cuts(chunks - 1);
    std::size_t at = end;
    for (std::size_t k = chunks - 1; k > 0; --k) cuts[k - 1] = at = begins[k][at];
    return cuts;
  }

  LayerId layer(std::size_t place) const { return layers_[place]; }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  // How many elements a layer at or behind each place reads of layers before it.
  void count_crossing(const Graph& graph, const std::vector<std::size_t>& place) {
    crossing_.assign(layers_.size() + 1, 0);
    for (std::size_t p = 0; p < layers_.size(); ++p) {
      const auto readers = graph.consumers(layers_[p]);
      if (readers.empty()) continue;
      const std::int64_t elements = volume(graph[layers_[p]].output);
      crossing_[p + 1] += elements;
      crossing_[place[readers.back()()] + 1] -= elements;
    }
    for (std::size_t p = 1; p < crossing_.size(); ++p) crossing_[p] += crossing_[p - 1];
  }

  bool fits(std::int64_t most, std::size_t chunks) const {
    std::size_t begin = 0;
    for (std::size_t k = 0; k < chunks && begin < layers_.size(); ++k) {
      const auto end = std::upper_bound(until_.begin(), until_.end(), until_[begin] + most);
      std::size_t next = static_cast<std::size_t>(end - until_.begin()) - 1;
      while (next > begin && !may_cut_[next]) --next;
      if (next == begin) return false;
      begin = next;
    }
    return begin == layers_.size();
  }

  std::int64_t least_largest(std::size_t chunks) const {
    std::int64_t low = 0, high = until_.back();
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (fits(middle, chunks)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // One chunk more. `before` and the result, by place: the least elements across the cuts of the
  // chunks that end there; kNone where none do. Of equal cuts the latest.
  std::vector<std::int64_t> add_chunk(const std::vector<std::int64_t>& before, std::int64_t most,
                                      std::vector<std::uint32_t>& begins) const {
    const std::size_t end = layers_.size();
    std::vector<std::int64_t> least(end + 1, kNone);
    begins.assign(end + 1, 0);
    std::deque<std::size_t> best;  // places in reach, of which none is worse than one before it
    for (std::size_t at = 1; at <= end; ++at) {
      const std::size_t begin = at - 1;  // none where no chunk may begin: nothing ends there
      while (!best.empty() && before[begin] <= before[best.back()]) best.pop_back();
      best.push_back(begin);
      while (!best.empty() && until_[at] - until_[best.front()] > most) best.pop_front();
      if (!may_cut_[at] || best.empty() || before[best.front()] == kNone) continue;
      least[at] = before[best.front()] + (at < end ? crossing_[at] : 0);
      begins[at] = static_cast<std::uint32_t>(best.front());
    }
    return least;
  }

  std::vector<LayerId> layers_;
  std::vector<bool> may_cut_;           // by place: before it
  std::vector<std::int64_t> until_;     // by place: multiply-adds of the layers before it
  std::vector<std::int64_t> crossing_;  // by place: elements that go across a cut there
};

}  // namespace

namespace {

// By layer, whether a block begins there, of the main ones or of those before them, that is not the
// first.
std::vector<bool> begins_of_blocks(const Graph& graph, const Repeat& main) {
  std::vector<bool> begins(graph.size(), false);
  for (const Repeat& blocks : repeated_blocks(graph)) {
    if (blocks.first > main.first) continue;
    for (std::size_t k = 0; k < blocks.times; ++k) begins[blocks.first + k * blocks.length] = true;
  }
  *std::find(begins.begin(), begins.end(), true) = false;
  return begins;
}

// Whether what stands before the main blocks is half as much work as one of them, or more.
bool has_blocks_before(const Graph& graph, const Repeat& main) {
  std::int64_t before = 0, block = 0;
  for (std::size_t i = 0; i < main.first + main.length; ++i) {
    (i < main.first ? before : block) += macs(graph, LayerId(i));
  }
  return 2 * before >= block;
}

std::vector<std::uint32_t> divide_evenly(const Graph& graph, const EvenChunks& layers,
                                         std::size_t chunks) {
  std::vector<std::uint32_t> chunk_of(graph.size());
  for (const std::size_t cut : layers.divide(chunks)) ++chunk_of[layers.layer(cut)()];
  for (std::size_t i = 1; i < graph.size(); ++i) chunk_of[i] += chunk_of[i - 1];
  return chunk_of;
}

}  // namespace

std::vector<std::uint32_t> divide_into_chunks(const Graph& graph, std::size_t stages,
                                              std::size_t chunks_per_stage) {
  const std::size_t chunks = stages * chunks_per_stage;
  if (chunks == 1) return std::vector<std::uint32_t>(graph.size());
  const std::optional<Repeat> blocks = main_blocks(graph);
  if (blocks) {
    const auto around = blocks_around(blocks->times, chunks);
    if (around) return divide_blocks(graph, *blocks, chunks, *around);
    const EvenChunks whole_blocks(graph, begins_of_blocks(graph, *blocks));
    if (has_blocks_before(graph, *blocks) && chunks <= whole_blocks.size()) {
      return divide_evenly(graph, whole_blocks, chunks);
    }
    refuse(blocks->times, stages, chunks_per_stage);
  }
  const EvenChunks layers(graph, std::vector<bool>(graph.size(), true));
  if (layers.size() < chunks) {
    throw InputError(fmt::format("its {} layers are too few for {}", layers.size(),
                                 parts_text(stages, chunks_per_stage)));
  }
  return divide_evenly(graph, layers, chunks);
}

}  // namespace strata
