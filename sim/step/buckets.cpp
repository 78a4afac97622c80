#include "sim/step/buckets.h"

#include <algorithm>
#include <array>
#include <map>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/step/shard_groups.h"
#include "sim/strategy/shared_weight.h"

namespace strata {
namespace {

class Filling {
 public:
  Filling(Bytes capacity, std::int64_t element_bytes, std::int64_t unit)
      : capacity_(capacity), element_bytes_(element_bytes), unit_(unit) {}

  void add(std::vector<DeviceId> devices, BucketPart part, std::int64_t values, bool frozen) {
    auto& open_by_devices = open_[frozen ? 1 : 0];
    auto& last = last_[frozen ? 1 : 0];
    // Mostly those of the layer before: to look for very many devices takes long.
    if (last == open_by_devices.end() || last->first != devices) {
      last =
          open_by_devices.try_emplace(std::move(devices), Open{std::min(kFirstBucket, capacity_)})
              .first;
    }
    Open& open = last->second;
    if (open.bucket == kNone) {
      open.bucket = all_.size();
      all_.push_back({last->first, {}, 0});
      all_.back().frozen = frozen;
    }
    Bucket& bucket = all_[open.bucket];
    part.first = (bucket.values + unit_ - 1) / unit_ * unit_;
    bucket.values = part.first + values;
    bucket.parts.push_back(std::move(part));
    if (Bytes{bucket.values * element_bytes_} < open.limit) return;
    open = {capacity_, kNone};
  }

  /// In the order of the layers that end them, as the backward pass meets those.
  std::vector<Bucket> all() && {
    std::stable_sort(all_.begin(), all_.end(), [](const Bucket& a, const Bucket& b) {
      return b.parts.back().layer < a.parts.back().layer;
    });
    return std::move(all_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Open {
    Bytes limit;
    std::size_t bucket = kNone;  // in all_: which is not full
  };

  Bytes capacity_;
  std::int64_t element_bytes_, unit_;
  using OpenByDevices = std::map<std::vector<DeviceId>, Open>;
  std::array<OpenByDevices, 2> open_;  // of trained parameters, and of frozen ones
  std::array<OpenByDevices::iterator, 2> last_ = {open_[0].end(), open_[1].end()};
  std::vector<Bucket> all_;
};

// The shards of a layer that hold the part of a weight that it shares.
std::vector<std::uint32_t> shards_with(const Layer& layer, const Degrees& degrees,
                                       const WeightPart& part) {
  const Partition cut = partition(layer, degrees);
  for (std::vector<std::uint32_t>& shards : replica_shards(layer, degrees)) {
    if (weight_part(layer, cut.tile(shards.front())) == part) return std::move(shards);
  }
  throw InternalError("no shard holds a part of a weight that its layer shares");
}

// Into how many groups the replicas of all layers of the bucket fall.
std::size_t group_count(const Bucket& bucket, std::size_t group) {
  const BucketPart& part = bucket.parts.front();
  const std::size_t own = part.copies.empty() ? part.shards.size() : part.copies.front().first;
  std::size_t size = std::min(group, own);
  while (own % size != 0) --size;
  if (size < 2) return 1;
  const std::size_t groups = own / size;
  const auto divides = [&](const BucketPart& each) {
    const auto starts = [&](const BucketPart::Copy& copy) { return copy.first % groups == 0; };
    return each.shards.size() % groups == 0 && std::ranges::all_of(each.copies, starts);
  };
  return std::ranges::all_of(bucket.parts, divides) ? groups : 1;
}

// The replicas that the k-th of so many groups has of each layer, of a part.
std::vector<std::size_t> replicas_in(const BucketPart& part, std::size_t k, std::size_t groups) {
  std::vector<std::size_t> begins = {0};
  for (const BucketPart::Copy& copy : part.copies) begins.push_back(copy.first);
  begins.push_back(part.shards.size());
  std::vector<std::size_t> replicas;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const std::size_t each = (begins[i + 1] - begins[i]) / groups;
    for (std::size_t r = 0; r < each; ++r) replicas.push_back(begins[i] + k * each + r);
  }
  return replicas;
}

Bucket bucket_of_group(const Bucket& all, std::size_t k, std::size_t groups) {
  Bucket own{{}, {}, all.values};
  own.frozen = all.frozen;
  for (const std::size_t replica : replicas_in(all.parts.front(), k, groups)) {
    own.devices.push_back(all.devices[replica]);
  }
  for (const BucketPart& part : all.parts) {
    BucketPart& held = own.parts.emplace_back(BucketPart{part.layer, {}, part.first, part.copies});
    for (BucketPart::Copy& copy : held.copies) copy.first /= groups;
    for (const std::size_t replica : replicas_in(part, k, groups)) {
      held.shards.push_back(part.shards[replica]);
    }
  }
  return own;
}

std::vector<Bucket> in_groups(std::vector<Bucket> buckets, std::int64_t group) {
  std::vector<Bucket> split;
  split.reserve(buckets.size());
  for (Bucket& bucket : buckets) {
    const std::size_t groups =
        group == 0 ? 1 : group_count(bucket, static_cast<std::size_t>(group));
    const auto first = static_cast<std::uint32_t>(split.size());
    if (groups == 1) {
      split.push_back(std::move(bucket));
      split.back().first_alike = first;
      continue;
    }
    for (std::size_t k = 0; k < groups; ++k) {
      split.push_back(bucket_of_group(bucket, k, groups));
      split.back().first_alike = first;
      split.back().alike = static_cast<std::uint32_t>(groups);
    }
  }
  return split;
}

}  // namespace

std::vector<Bucket> gradient_buckets(const Graph& graph, const Strategy& strategy,
                                     const std::vector<bool>& trains, Bytes capacity,
                                     std::int64_t element_bytes, std::int64_t unit,
                                     std::int64_t group, const std::vector<bool>& frozen) {
  Filling filling(capacity, element_bytes, unit);
  for (std::size_t i = graph.size(); i-- > 0;) {
    const LayerId layer(i);
    const bool is_frozen = !frozen.empty() && frozen[i];
    if (!trains[i] && !is_frozen) continue;
    const Partition cut = partition(graph[layer], strategy[layer].degrees);
    const std::vector<LayerId> copies = weight_copies(graph, layer, strategy.configs());
    for (std::vector<std::uint32_t>& shards :
         replica_shards(graph[layer], strategy[layer].degrees)) {
      const Tile tile = cut.tile(shards.front());
      std::vector<DeviceId> devices;
      devices.reserve(shards.size());
      BucketPart part{layer, {}};
      const auto add = [&](LayerId holder, std::vector<std::uint32_t> held) {
        const ShardDevices& on = strategy[holder].devices;
        const auto by_device = [&](std::uint32_t a, std::uint32_t b) { return on[a] < on[b]; };
        // Layers whose shards lie otherwise on the same devices meet; most lie in order.
        if (capacity > Bytes{} && !std::is_sorted(held.begin(), held.end(), by_device)) {
          std::sort(held.begin(), held.end(), by_device);
        }
        for (std::uint32_t shard : held) devices.push_back(on[shard]);
        if (part.shards.empty()) {
          part.shards = std::move(held);
        } else {
          part.shards.insert(part.shards.end(), held.begin(), held.end());
        }
      };
      add(layer, std::move(shards));
      for (LayerId copy : copies) {
        part.copies.push_back({copy, part.shards.size()});
        add(copy,
            shards_with(graph[copy], strategy[copy].degrees, weight_part(graph[layer], tile)));
      }
      if (devices.size() == 1) continue;
      filling.add(std::move(devices), std::move(part), shard_parameters(graph[layer], tile).total(),
                  is_frozen);
    }
  }
  return in_groups(std::move(filling).all(), group);
}

}  // namespace strata
