#include "exec/cpu/onednn.h"

#include <array>
#include <memory>
#include <new>

// Of the OpenMP run time that oneDNN is linked with; its header comes with some compilers only.
extern "C" void omp_set_num_threads(int count);

namespace strata::cpu {
namespace {

constexpr std::align_val_t kCacheLine{64};

struct AlignedDelete {
  void operator()(float* data) const { ::operator delete[](data, kCacheLine); }
};

struct Buffer {
  std::unique_ptr<float, AlignedDelete> data;
  std::size_t size = 0;

  float* at_least(std::size_t wanted) {
    if (wanted > size) {
      data.reset();
      data.reset(static_cast<float*>(::operator new[](wanted * sizeof(float), kCacheLine)));
      size = wanted;
    }
    return data.get();
  }
};

dnnl::stream make_stream() {
  compute_alone();
  return dnnl::stream(dnnl_engine());
}

bool shrinks_last_block(const dnnl_memory_desc_t& desc, int dim, std::int64_t extent) {
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  std::int64_t block = 1;
  for (int k = 0; k < blocking.inner_nblks; ++k) {
    if (blocking.inner_idxs[k] == dim) block *= blocking.inner_blks[k];
  }
  return desc.padded_dims[dim] - extent < block;
}

dnnl::memory on_no_data(const dnnl::memory::desc& desc) {
  return {desc, dnnl_engine(), DNNL_MEMORY_NONE};
}

}  // namespace

void compute_alone() {
  omp_set_num_threads(1);
}

const dnnl::engine& dnnl_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& dnnl_stream() {
  thread_local dnnl::stream stream = make_stream();
  return stream;
}

float* scratch(Scratch which, std::size_t size) {
  thread_local std::array<Buffer, kScratchCount> buffers;
  return buffers[static_cast<std::size_t>(which)].at_least(size);
}

const dnnl::primitive_attr& attributes() {
  static const dnnl::primitive_attr attributes = [] {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attr;
  }();
  return attributes;
}

Workspace::Workspace(const dnnl::memory::desc& desc) : memory_(on_no_data(desc)) {}

void Workspace::enter() {
  const std::size_t bytes = memory_.get_desc().get_size();
  if (bytes == 0) return;
  float* const data = scratch(Scratch::library, (bytes + sizeof(float) - 1) / sizeof(float));
  memory_.set_data_handle(data, dnnl_stream());
}

bool is_trimmable(const dnnl::memory::desc& theirs, const dnnl::memory::dims& dims) {
  for (int k = 0; k < theirs.data.ndims; ++k) {
    const std::int64_t extent = dims[static_cast<std::size_t>(k)];
    if (extent != theirs.data.dims[k] && !shrinks_last_block(theirs.data, k, extent)) return false;
  }
  return true;
}

dnnl::memory::desc trimmed(const dnnl::memory::desc& theirs, const dnnl::memory::dims& dims) {
  dnnl::memory::desc desc = theirs;
  for (std::size_t k = 0; k < dims.size(); ++k) desc.data.dims[k] = dims[k];
  return desc;
}

Bridge::Bridge(const dnnl::memory::desc& ours, const dnnl::memory::desc& theirs, Way way,
               Scratch where)
    : ours_(on_no_data(ours)), theirs_(on_no_data(theirs)), way_(way), where_(where) {
  const dnnl::memory::desc exchanged = trimmed(theirs, ours.dims());
  direct_ = exchanged == ours;
  if (direct_) return;
  exchanged_ = on_no_data(exchanged);
  reorder_ = way == Way::in ? dnnl::reorder(ours_, exchanged_) : dnnl::reorder(exchanged_, ours_);
}

void Bridge::enter(float* data) {
  dnnl::stream& stream = dnnl_stream();
  if (direct_) return theirs_.set_data_handle(data, stream);
  const std::size_t bytes = theirs_.get_desc().get_size();
  float* const between = scratch(where_, bytes / sizeof(float));
  ours_.set_data_handle(data, stream);
  exchanged_.set_data_handle(between, stream);
  theirs_.set_data_handle(between, stream);
  if (way_ == Way::in) reorder_.execute(stream, ours_, exchanged_);
}

void Bridge::leave() {
  if (!direct_ && way_ == Way::out) reorder_.execute(dnnl_stream(), exchanged_, ours_);
}

}  // namespace strata::cpu
