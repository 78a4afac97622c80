#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/topology/nominal.h"
#include "sim/importers/topology/smi.h"

namespace strata {
namespace {

// More than any GPU has: so many can only be counted if the same ones lead everywhere, by switches.
constexpr int kMostNvLinks = 18;
constexpr std::array kLevels = {Nearness::pix, Nearness::pxb, Nearness::phb, Nearness::node};

/// Which items are together; a group is named by one of them.
class Groups {
 public:
  explicit Groups(std::size_t count) : above_(count) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t item) const {
    while (above_[item] != item) item = above_[item];
    return item;
  }
  void join(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({of(a), of(b)});
    above_[high] = low;
  }
  bool together(std::size_t a, std::size_t b) const { return of(a) == of(b); }
  std::size_t size_of(std::size_t item) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < above_.size(); ++i) count += together(i, item);
    return count;
  }

 private:
  std::vector<std::size_t> above_;
};

class Drawing {
 public:
  Drawing(const SmiMatrix& matrix, const MachineOptions& options)
      : matrix_(matrix), rows_(matrix.rows), options_(options) {}

  Machine draw() {
    find_generation();
    for (const Nearness level : kLevels) groups_.push_back(group(level));
    check();
    for (std::size_t i = 0; i < rows_.size(); ++i) add_item(i);
    machine_.socket = options_.socket.value_or(kNominalSocket);
    add_nvlinks();
    note_cards();
    return std::move(machine_);
  }

 private:
  void find_generation() {
    if (options_.kind.empty()) {
      throw InputError(fmt::format(
          "{}: nvidia-smi topo doesn't say what the GPUs are; `kind` says it (v100, a100, ...)",
          matrix_.file));
    }
    generation_ = find_gpu_generation(options_.kind);
    if (!generation_ && !options_.pcie) refuse("`pcie`", "a PCI link");
    pcie_ = options_.pcie ? *options_.pcie : *nominal_pcie(generation_->gigatransfers, 16);
  }

  [[noreturn]] void refuse(std::string_view option, std::string_view what) const {
    throw InputError(fmt::format("{}: kind '{}' doesn't tell how fast {} is; {} says it",
                                 matrix_.file, options_.kind, what, option));
  }

  // NVLinks hide how near two GPUs are by PCI. Then their processors count.
  Groups group(Nearness level) const {
    Groups groups = groups_.empty() ? Groups(rows_.size()) : groups_.back();
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const bool hidden = rows_[a].to[b] == Nearness::nvlink;
        const bool near = level == Nearness::node && !rows_[a].affinity.empty() &&
                          rows_[a].affinity == rows_[b].affinity && !far_apart(groups, a, b);
        if (hidden ? near : rows_[a].to[b] <= level) groups.join(a, b);
      }
    }
    return groups;
  }

  /// Whether anything that is with `a` is in another node than something with `b`.
  bool far_apart(const Groups& groups, std::size_t a, std::size_t b) const {
    for (std::size_t x = 0; x < rows_.size(); ++x) {
      if (!groups.together(x, a)) continue;
      for (std::size_t y = 0; y < rows_.size(); ++y) {
        if (groups.together(y, b) && rows_[x].to[y] == Nearness::sys) return true;
      }
    }
    return false;
  }

  // Boxes in boxes: who is nearer to a third than that is to a fourth stands so to the fourth, too.
  void check() const {
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Nearness near = rows_[a].to[b];
        if (near == Nearness::nvlink) continue;
        for (std::size_t level = 0; level < kLevels.size(); ++level) {
          if (kLevels[level] >= near || !groups_[level].together(a, b)) continue;
          fail({matrix_.file, rows_[a].line},
               fmt::format("'{}' and '{}' are farther apart than both are from what stands between",
                           rows_[a].name, rows_[b].name));
        }
      }
    }
  }

  void add_item(std::size_t i) {
    const std::size_t processor = box(3, i, kNoPart, PartKind::processor, "numa");
    const std::size_t outer = box(1, i, processor, PartKind::bridge, "pxb");
    const std::size_t inner = box(0, i, outer, PartKind::bridge, "pix");
    parts_of_.push_back(machine_.parts.size());
    Part part{rows_[i].gpu ? PartKind::gpu : PartKind::nic, rows_[i].name, inner, pcie_};
    if (rows_[i].gpu) {
      part.name = "gpu" + rows_[i].name.substr(3);
      part.device_kind = options_.kind;
    } else {
      part.network = options_.network.value_or(BytesPerSecond{});
      part.network_latency = options_.latency.value_or(Seconds{});
    }
    machine_.parts.push_back(std::move(part));
  }

  /// The part that stands for the group of an item, made when first asked for. A bridge that would
  /// hold one thing, or what the one below it holds, is none.
  std::size_t box(std::size_t level, std::size_t item, std::size_t above, PartKind kind,
                  std::string_view name) {
    const Groups& groups = groups_[level];
    const std::size_t size = groups.size_of(item);
    if (kind == PartKind::bridge && (size == 1 || is_inner(level, item, size))) return above;
    const std::pair key(level, groups.of(item));
    const auto found = std::find_if(boxes_.begin(), boxes_.end(),
                                    [&](const auto& box) { return box.first == key; });
    if (found != boxes_.end()) return found->second;
    const auto number = std::count_if(boxes_.begin(), boxes_.end(),
                                      [&](const auto& box) { return box.first.first == level; });
    machine_.parts.push_back({kind, fmt::format("{}{}", name, number), above,
                              kind == PartKind::bridge ? pcie_ : BytesPerSecond{}});
    boxes_.emplace_back(key, machine_.parts.size() - 1);
    return machine_.parts.size() - 1;
  }

  bool is_inner(std::size_t level, std::size_t item, std::size_t size) const {
    return level == 1 && groups_[0].size_of(item) == size;
  }

  void add_nvlinks() {
    const bool switched = std::any_of(rows_.begin(), rows_.end(), [](const SmiMatrix::Row& row) {
      return std::accumulate(row.nvlinks.begin(), row.nvlinks.end(), 0) > kMostNvLinks;
    });
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::vector<int>& counts = rows_[i].nvlinks;
      const int most = *std::max_element(counts.begin(), counts.end());
      if (switched && most > 0) add_nvlink(i, kNoPart, most);
      for (std::size_t j = 0; !switched && j < counts.size(); ++j) {
        if (counts[j] > 0) add_nvlink(i, parts_of_[j], counts[j]);
      }
    }
  }

  void add_nvlink(std::size_t row, std::size_t to, int count) {
    const auto known = generation_ ? nominal_nvlink(generation_->compute_capability) : std::nullopt;
    const auto one = options_.nvlink ? options_.nvlink : known;
    if (!one) refuse("`nvlink`", "an NVLink");
    machine_.nvlinks.push_back({parts_of_[row], to, BytesPerSecond{one->value * count}});
  }

  void note_cards() {
    const auto cards =
        std::count_if(rows_.begin(), rows_.end(), [](const auto& r) { return !r.gpu; });
    if (cards == 0 || options_.network) return;
    machine_.notes.push_back(fmt::format(
        "network cards are left out ({}): `bandwidth` says how fast each of them is", cards));
  }

  const SmiMatrix& matrix_;
  const std::vector<SmiMatrix::Row>& rows_;
  const MachineOptions& options_;
  const GpuGeneration* generation_ = nullptr;
  BytesPerSecond pcie_;
  std::vector<Groups> groups_;  // by level
  std::vector<std::size_t> parts_of_;
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, std::size_t>> boxes_;
  Machine machine_;
};

}  // namespace

Machine draw_machine(const SmiMatrix& matrix, const MachineOptions& options) {
  return Drawing(matrix, options).draw();
}

}  // namespace strata
