#include "gui/models/timeline/lane_groups.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace strata::gui {
namespace {

constexpr std::uint32_t kNoLane = SlicePlace::kNowhere;

/// The lanes of a device, the links of a host, or one link.
struct LaneBlock {
  std::string name;
  std::string host;   ///< empty: in none
  std::string stage;  ///< empty: in none
  bool is_device = false;
  std::size_t order = 0;  ///< by which blocks stand; equal ones as they come
  std::vector<LaneRow> rows;
  std::uint64_t signature = 0;
};
using LaneBlocks = std::vector<const LaneBlock*>;

// "host0" of "host0/gpu1".
std::string host_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

class BlockMaker {
 public:
  BlockMaker(const Recording& first, const Recording* second, const RowOptions& options)
      : sides_{&first, second}, options_(options) {}

  std::vector<LaneBlock> run() && {
    std::vector<LaneRow> links;
    for (const LaneRow row : interleave(*sides_[0], sides_[1])) {
      const LaneName& name = lane(row).name();
      if (name.link) {
        links.push_back(row);
      } else if (options_.links || name.kind != LaneKind::curve) {
        add(row, name.group, host_of(name.group));
      }
    }
    if (options_.links) {
      for (const LaneRow row : links) add_link(row);
    }
    std::ranges::stable_sort(blocks_, {}, &LaneBlock::order);
    return std::move(blocks_);
  }

 private:
  const Lane& lane(LaneRow row) const { return sides_[row.side]->lanes[row.lane]; }

  // What links have in common is no group: each is one. A host's stand after its last device.
  void add_link(LaneRow row) {
    const LaneName& name = lane(row).name();
    if (!options_.links_beside || name.beside.empty()) {
      add(row, name.group + '\n' + name.name, {}).name = name.group;
      return;
    }
    const auto host = last_of_host_.find(name.beside);
    LaneBlock& block = add(row, name.beside, host_of(name.beside));
    if (host != last_of_host_.end()) block.order = host->second;
  }

  LaneBlock& add(LaneRow row, const std::string& key, const std::string& host) {
    const auto [known, is_new] = numbers_.try_emplace(key, blocks_.size());
    const LaneName& name = lane(row).name();
    if (is_new) blocks_.push_back({key, host, name.stage, false, blocks_.size(), {}, 0});
    LaneBlock& block = blocks_[known->second];
    block.rows.push_back(row);
    block.signature = (block.signature * 31 + row.side + 1) * 31 + lane(row).signature();
    if (name.kind == LaneKind::device) {
      block.is_device = true;
      last_of_host_[host] = block.order;
    }
    return block;
  }

  std::array<const Recording*, 2> sides_;
  const RowOptions& options_;
  std::vector<LaneBlock> blocks_;
  std::unordered_map<std::string, std::size_t> numbers_;       // of blocks
  std::unordered_map<std::string, std::size_t> last_of_host_;  // its last device's order
};

/// Equal blocks together, in the order of the first of each.
template <typename Key>
std::vector<LaneBlocks> grouped(const LaneBlocks& blocks, Key key) {
  std::vector<LaneBlocks> groups;
  std::map<decltype(key(*blocks.front())), std::size_t> numbers;
  for (const LaneBlock* block : blocks) {
    const auto [known, is_new] = numbers.try_emplace(key(*block), groups.size());
    if (is_new) groups.emplace_back();
    groups[known->second].push_back(block);
  }
  return groups;
}

std::vector<LaneBlocks> alike(const LaneBlocks& blocks) {
  return grouped(blocks, [](const LaneBlock& block) { return block.signature; });
}

class RowMaker {
 public:
  RowMaker(const Recording& first, const Recording* second, const RowOptions& options)
      : sides_{&first, second}, options_(options) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (sides_[side] != nullptr) {
        made_.shown_for[side].assign(sides_[side]->lanes.size(), kNoLane);
      }
    }
  }

  LaneRows run(const LaneBlocks& blocks) && {
    if (options_.folded) {
      for (const LaneBlocks& group : alike(blocks)) {
        add_stage(*group.front());
        add_alike(group);
      }
      return std::move(made_);
    }
    const auto host = [](const LaneBlock& block) {
      return block.is_device && !block.host.empty()
                 ? block.host + '\n' + block.stage
                 : '\n' + block.name + '\n' + std::to_string(block.order);
    };
    for (const LaneBlocks& group : grouped(blocks, host)) {
      add_stage(*group.front());
      add_host(group);
    }
    return std::move(made_);
  }

 private:
  bool is_turned(const std::string& key) const { return options_.turned.contains(key); }

  // Open, its hosts, or its single blocks where those are in none.
  void add_alike(const LaneBlocks& blocks) {
    const LaneBlock& first = *blocks.front();
    if (blocks.size() == 1) return add(blocks, {first.name});
    const std::string key = "alike " + first.name + ' ' + std::to_string(first.order);
    if (!is_turned(key)) return add(blocks, {first.name, blocks.size(), key});
    add_heading({first.name, blocks.size(), key, true});
    const auto host = [](const LaneBlock& block) {
      return block.host.empty() ? '\n' + std::to_string(block.order) : block.host;
    };
    for (const LaneBlocks& part : grouped(blocks, host)) add_part(part, key);
  }

  void add_part(const LaneBlocks& blocks, const std::string& within) {
    const LaneBlock& first = *blocks.front();
    if (blocks.size() == 1) return add(blocks, {first.name, 1, {}, false, 1});
    const std::string key = within + " in " + first.host;
    if (!is_turned(key)) return add(blocks, {first.host, blocks.size(), key, false, 1}, true);
    add_heading({first.host, blocks.size(), key, true, 1});
    for (const LaneBlock* block : blocks) add({block}, {block->name, 1, {}, false, 2});
  }

  void add_host(const LaneBlocks& blocks) {
    const LaneBlock& first = *blocks.front();
    if (blocks.size() == 1) return add(blocks, {first.name});
    const std::string key = "host " + first.host + first.stage;
    if (!is_turned(key)) {
      for (const LaneBlock* block : blocks) {
        add({block}, {block->name, 1, block == &first ? key : std::string(), true});
      }
      return;
    }
    const std::vector<LaneBlocks> classes = alike(blocks);
    for (const LaneBlocks& same : classes) {
      const std::string& name = classes.size() == 1 ? first.host : same.front()->name;
      add(same, {name, same.size(), same.front() == &first ? key : std::string()}, true);
    }
  }

  void add_stage(const LaneBlock& first) {
    if (first.stage.empty() || first.stage == stage_) return;
    stage_ = first.stage;
    add_heading({stage_, 1, {}, false, 0, true});
  }

  void add_heading(const RowGroup& group) {
    made_.groups.push_back(group);
    made_.rows.push_back({0, kNoLane});
    made_.group_of.push_back(static_cast<std::uint32_t>(made_.groups.size() - 1));
  }

  // The lanes of the first, and only what computes where they are `brief`.
  void add(const LaneBlocks& blocks, const RowGroup& group, bool brief = false) {
    made_.groups.push_back(group);
    const LaneBlock& first = *blocks.front();
    for (std::size_t i = 0; i < first.rows.size(); ++i) {
      const LaneRow row = first.rows[i];
      if (brief && first.is_device && lane(row).name().kind != LaneKind::device) continue;
      made_.rows.push_back(row);
      made_.group_of.push_back(static_cast<std::uint32_t>(made_.groups.size() - 1));
      for (const LaneBlock* block : blocks) {
        made_.shown_for[block->rows[i].side][block->rows[i].lane] = row.lane;
      }
    }
  }

  const Lane& lane(LaneRow row) const { return sides_[row.side]->lanes[row.lane]; }

  std::array<const Recording*, 2> sides_;
  const RowOptions& options_;
  std::string stage_;  // whose heading was the last
  LaneRows made_;
};

}  // namespace

LaneRows arrange(const Recording& first, const Recording* second, const RowOptions& options) {
  const std::vector<LaneBlock> blocks = BlockMaker(first, second, options).run();
  LaneBlocks all;
  all.reserve(blocks.size());
  for (const LaneBlock& block : blocks) all.push_back(&block);
  return RowMaker(first, second, options).run(all);
}

std::size_t count_devices(const Recording& recording) {
  return static_cast<std::size_t>(std::ranges::count_if(recording.lanes, [](const Lane& lane) {
    return lane.name().kind == LaneKind::device && lane.name().depth == 0;
  }));
}

}  // namespace strata::gui
