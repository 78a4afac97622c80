#include "sim/importers/topology/this_machine.h"

#include <cstddef>

#include <hwloc.h>

#include "sim/base/error.h"

namespace strata {
namespace {

class Topology {
 public:
  Topology() {
    if (hwloc_topology_init(&topology_) != 0) fail();
    hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology_) == 0) return;
    hwloc_topology_destroy(topology_);
    fail();
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  std::string xml() const {
    char* buffer = nullptr;
    int size = 0;
    if (hwloc_topology_export_xmlbuffer(topology_, &buffer, &size, 0) != 0) fail();
    std::string text(buffer, static_cast<std::size_t>(size) - 1);  // its final zero
    hwloc_free_xmlbuffer(topology_, buffer);
    return text;
  }

 private:
  [[noreturn]] static void fail() {
    throw EnvironmentError("libhwloc can't describe this machine");
  }

  hwloc_topology_t topology_ = nullptr;
};

}  // namespace

bool has_hwloc() {
  return true;
}

std::string describe_this_machine() {
  return Topology().xml();
}

}  // namespace strata
