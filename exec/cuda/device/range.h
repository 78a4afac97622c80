#pragma once

// Ranges of the host's time, under names, for NVIDIA's tools (NVTX): they show them, and the work
// that was put on streams meanwhile. Where no tool watches the program, nothing is done. A range
// belongs to the thread that it began on; names are thread-safe.

#include <cstdint>
#include <string>

namespace strata::cuda {

/// Whether a tool watches: then names are worth making.
bool is_watched();

/// A name that a tool keeps until the program ends. Without one: of nothing.
class RangeName {
 public:
  RangeName() = default;
  explicit RangeName(const std::string& name);
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;  // an nvtxStringHandle_t
};

/// From here to the end of the block. `number` stands beside the name: which step it is.
class Range {
 public:
  Range(RangeName name, std::uint64_t number);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool begun_;
};

}  // namespace strata::cuda
