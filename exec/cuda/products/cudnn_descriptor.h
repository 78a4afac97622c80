#pragma once

// What cuDNN's backend API is made of: descriptors with attributes. Every failure throws
// EnvironmentError. Not thread-safe.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "exec/cuda/products/cudnn.h"

namespace strata::cuda {

/// A descriptor of the library's, owned.
class Descriptor {
 public:
  Descriptor(const Cudnn& cudnn, cudnnBackendDescriptorType_t kind);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  const Cudnn& cudnn() const { return *cudnn_; }
  cudnnBackendDescriptor_t get() const { return handle_; }

  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::span<const T> values) {
    set_raw(name, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set_raw(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.handle_);
  }
  void set(cudnnBackendAttributeName_t name, std::span<const std::int64_t> values) {
    set(name, CUDNN_TYPE_INT64, values);
  }
  void finalise(std::string_view doing);
  cudnnStatus_t try_to_finalise();

  template <class T>
  T value(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    T value{};
    get_raw(name, type, 1, &value);
    return value;
  }
  /// At most `most` of them.
  template <class T>
  std::vector<T> values(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                        std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    values.resize(static_cast<std::size_t>(get_raw(name, type, most, values.data())));
    return values;
  }
  /// The library fills descriptors that it is given.
  Descriptor part(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t kind) const;
  std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t kind,
                                std::int64_t most) const;

 private:
  void set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
               std::int64_t count, const void* values);
  std::int64_t get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       std::int64_t count, void* values) const;

  const Cudnn* cudnn_;
  cudnnBackendDescriptor_t handle_ = nullptr;
};

}  // namespace strata::cuda
