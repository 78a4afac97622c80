#include "exec/cuda/products/cudnn_descriptor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strata::cuda {

Descriptor::Descriptor(const Cudnn& cudnn, cudnnBackendDescriptorType_t kind) : cudnn_(&cudnn) {
  cudnn.check(cudnn.create_descriptor(kind, &handle_), "making a descriptor");
}

Descriptor::~Descriptor() {
  if (handle_ != nullptr) cudnn_->destroy_descriptor(handle_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : cudnn_(other.cudnn_), handle_(std::exchange(other.handle_, nullptr)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(cudnn_, other.cudnn_);
  std::swap(handle_, other.handle_);
  return *this;
}

void Descriptor::finalise(std::string_view doing) {
  cudnn_->check(try_to_finalise(), doing);
}

cudnnStatus_t Descriptor::try_to_finalise() {
  return cudnn_->finalize(handle_);
}

Descriptor Descriptor::part(cudnnBackendAttributeName_t name,
                            cudnnBackendDescriptorType_t kind) const {
  return std::move(parts(name, kind, 1).at(0));
}

std::vector<Descriptor> Descriptor::parts(cudnnBackendAttributeName_t name,
                                          cudnnBackendDescriptorType_t kind,
                                          std::int64_t most) const {
  std::vector<Descriptor> parts;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t i = 0; i < most; ++i) {
    handles.push_back(parts.emplace_back(*cudnn_, kind).get());
  }
  const std::int64_t got = get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, handles.data());
  parts.erase(parts.begin() + std::min(got, most), parts.end());
  return parts;
}

void Descriptor::set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         std::int64_t count, const void* values) {
  const cudnnStatus_t status = cudnn_->set_attribute(handle_, name, type, count, values);
  if (status == CUDNN_STATUS_SUCCESS) return;
  cudnn_->check(status, fmt::format("setting attribute {}", static_cast<int>(name)));
}

std::int64_t Descriptor::get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                 std::int64_t count, void* values) const {
  std::int64_t got = 0;
  const cudnnStatus_t status = cudnn_->get_attribute(handle_, name, type, count, &got, values);
  if (status == CUDNN_STATUS_SUCCESS) return got;
  cudnn_->check(status, fmt::format("reading attribute {}", static_cast<int>(name)));
  return 0;
}

}  // namespace strata::cuda
