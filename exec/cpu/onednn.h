#pragma once

// oneDNN as the kernels use it: one thread, on memory that the caller owns. One engine serves the
// process, each thread has its stream and its scratch; a kernel's objects may be made and run by
// any thread, one at a time.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <dnnl.hpp>

#include "sim/base/error.h"

namespace strata::cpu {

const dnnl::engine& dnnl_engine();
/// The library starts no threads for the one that calls this; it would else start a team as large
/// as the machine.
void compute_alone();

/// This thread's. The library works with this thread alone from its first use on.
dnnl::stream& dnnl_stream();

/// Calls f; what the library refuses becomes an EnvironmentError that says `what`.
template <class F>
decltype(auto) checked(std::string_view what, F&& f) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    throw EnvironmentError(std::string("oneDNN: ") + std::string(what) + ": " + error.what());
  }
}

/// What a thread's scratches are for; a kernel uses several at once.
enum class Scratch : std::uint8_t {
  input,
  output,
  weights,
  grouped_weights,
  bias,
  heads,
  gradients,
  library
};
inline constexpr std::size_t kScratchCount = 8;

/// At least `size` floats of this thread's, aligned to a cache line. All kernels of a thread share
/// them: what one holds is lost when another runs, and when it grows.
float* scratch(Scratch which, std::size_t size);

/// For primitives whose own memory comes from their user: the library's would belong to the thread
/// that made the primitive, and be gone with it.
const dnnl::primitive_attr& attributes();

/// A primitive's own memory: of the thread that runs it.
class Workspace {
 public:
  explicit Workspace(const dnnl::memory::desc& desc);
  /// The argument DNNL_ARG_SCRATCHPAD; the same memory object for ever.
  const dnnl::memory& argument() const { return memory_; }
  /// Before the primitive runs.
  void enter();

 private:
  dnnl::memory memory_;
};

/// `theirs` seen with fewer elements: the same bytes, of which those beyond `dims` are its padding.
/// Needs every dim that shrinks to be blocked so that the last block is the one that shrinks.
dnnl::memory::desc trimmed(const dnnl::memory::desc& theirs, const dnnl::memory::dims& dims);
bool is_trimmable(const dnnl::memory::desc& theirs, const dnnl::memory::dims& dims);

/// A tensor as its owner holds it and as a primitive wants it: one memory where the two agree, else
/// a scratch on the library's side and a reorder between them. What the primitive takes to be there
/// beyond the owner's elements is zero on entering.
class Bridge {
 public:
  enum class Way : std::uint8_t { in, out };

  Bridge() = default;
  Bridge(const dnnl::memory::desc& ours, const dnnl::memory::desc& theirs, Way way, Scratch where);

  /// The primitive's argument; the same memory object for ever.
  const dnnl::memory& argument() const { return theirs_; }
  /// Before the primitive runs: takes the owner's memory, and what is in it where it is an input.
  void enter(float* data);
  /// After it has run: hands the owner what is an output.
  void leave();

 private:
  dnnl::memory ours_, theirs_, exchanged_;
  dnnl::reorder reorder_;
  Way way_ = Way::in;
  Scratch where_ = Scratch::input;
  bool direct_ = true;
};

}  // namespace strata::cpu
