#pragma once

// The device graph D: devices, switches and directed links with bandwidth and latency, and the
// route between every two devices. Immutable once built; thread-safe to read. Copies share their
// routes, which are found for a device when first asked for: a cluster of 4,096 devices has
// 16 million.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/cluster/communication_library.h"

namespace strata {

struct Device {
  std::string name;
  std::string kind = {};  ///< a profile's name; may be empty where seconds are given (replay)
  std::string host = {};  ///< may be empty; devices of one host share its memory and processors
  double speed = 1;       ///< what-if: 0.5 makes every compute task take twice its time
  /// false: the device itself copies what it receives, and computes nothing meanwhile
  bool copy_engine = true;
  /// true: whatever its copy engine brings, it puts boxes of its own memory together itself (an
  /// input gathered, a gradient summed), and computes nothing meanwhile; a device without a copy
  /// engine does so anyway
  bool assembles = false;
  /// false: no route leads through it. So it is with GPUs, whose copies go from one to another and
  /// never through a third.
  bool forwards = true;
  /// Its memory holds the channels of tensors in blocks of so many (channel_block.h): 1 where
  /// nothing is padded
  std::int64_t channel_block = 1;
  std::optional<Bytes> memory = {};  ///< else as much as devices of its kind have
  Bytes memory_reserve = {};  ///< the part of it that is used by something other than the training
  std::string domain =
      {};  ///< where fast links join the devices of several hosts (NVLink in racks)
  /// The devices that fast links join have one; all others are reached over a network.
  const std::string& fast_domain() const { return domain.empty() ? host : domain; }
  /// The memory that a training may use. `of_kind`: the memory of devices of its kind.
  Bytes memory_left(Bytes of_kind) const {
    const Bytes all = memory.value_or(of_kind);
    return all > memory_reserve ? all - memory_reserve : Bytes{};
  }
  bool puts_together() const { return assembles || !copy_engine; }
  /// "host0/gpu1", where it has a host that its name does not begin with.
  std::string full_name() const {
    return host.empty() || name.starts_with(host + "/") ? name : host + "/" + name;
  }
  bool operator==(const Device&) const = default;
};

/// The bandwidth of a link that never limits, as within a switch: what-ifs leave it so.
inline constexpr BytesPerSecond kNoLimit{1e15};

/// One direction of a connection.
struct Link {
  std::string name;
  std::uint32_t from = 0;  ///< a vertex: devices first (their DeviceId), then switches
  std::uint32_t to = 0;
  BytesPerSecond bandwidth;
  Seconds latency;
  std::string kind;  ///< the class that --set and scenarios name: "intra", "inter", or the file's
  bool operator==(const Link&) const = default;
};

class DomainSymmetry;
class RouteTable;

/// A [[route]] that the cluster's file writes out; links in order.
struct FixedRoute {
  DeviceId from;
  DeviceId to;
  std::vector<LinkId> links;
  bool operator==(const FixedRoute&) const = default;
};

class Cluster {
 public:
  const std::string& name() const { return name_; }
  std::size_t device_count() const { return devices_.size(); }
  /// Those that devices name.
  std::size_t host_count() const;
  std::span<const Device> devices() const { return devices_; }
  std::span<const std::string> switches() const { return switches_; }
  std::span<const Link> links() const { return links_; }
  std::span<const FixedRoute> fixed_routes() const { return fixed_routes_; }
  /// How collectives move bytes; without protocols where nothing is said of it.
  const CommunicationLibrary& communication_library() const { return communication_library_; }
  const Device& operator[](DeviceId id) const { return devices_[id()]; }
  const Link& operator[](LinkId id) const { return links_[id()]; }
  /// The name of a vertex, as links number them.
  const std::string& vertex_name(std::uint32_t vertex) const;

  /// Invalid if there is none.
  DeviceId find_device(std::string_view name) const;
  LinkId find_link(std::string_view name) const;

  /// The links from one device to another, in order: the shortest path (fewest links, then least
  /// summed latency, then the links' names in order), or what [[route]] says. A path may lead
  /// through other devices that forward. Empty for from == to. Throws InputError if there is none:
  /// clusters for replay need not connect every pair, and only who asks for a route needs one.
  std::span<const LinkId> route(DeviceId from, DeviceId to) const;
  /// Whether links' names decide which of equally short ways a route from the device is.
  bool names_decide_routes(DeviceId from) const;
  /// Whether there is a route.
  bool connects(DeviceId from, DeviceId to) const;
  /// The summed latency of the route.
  Seconds latency(DeviceId from, DeviceId to) const;

  /// Which domains are wired alike; found when first asked for.
  std::shared_ptr<const DomainSymmetry> symmetry() const;

  bool operator==(const Cluster& other) const;

 private:
  friend class ClusterBuilder;
  struct Symmetry;
  void forget_symmetry();

  std::string name_;
  std::vector<Device> devices_;
  std::vector<std::string> switches_;
  std::vector<Link> links_;
  CommunicationLibrary communication_library_;
  std::vector<FixedRoute> fixed_routes_;     // in the order of (from, to)
  std::vector<std::uint32_t> by_name_;       // the devices, by name
  std::vector<std::uint32_t> link_by_name_;  // the links, by name
  std::shared_ptr<const RouteTable> routes_;
  std::shared_ptr<Symmetry> symmetry_;
};

}  // namespace strata
