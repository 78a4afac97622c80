#include "exec/cuda/peers/nccl.h"

#include <string>

#include <fmt/format.h>

#include "exec/cuda/device/out_of_memory.h"

namespace strata::cuda {
namespace {

std::string version_of(const Nccl& nccl) {
  int number = 0;
  if (nccl.version(&number) != ncclSuccess) return "of an unknown version";
  return version_text(number);
}

}  // namespace

void Nccl::check(ncclResult_t status, std::string_view doing, ncclComm_t communicator) const {
  if (status == ncclSuccess) return;
  std::string text = fmt::format("NCCL {}: {}: {}", version_of(*this), doing, error_string(status));
  const char* last = last_error(communicator);
  if (last != nullptr && *last != '\0') text += fmt::format(" ({})", last);
  throw_refusal("NCCL", text, false);
}

NcclGroup::NcclGroup(const Nccl& nccl) : nccl_(nccl) {
  nccl.check(nccl.group_start(), "beginning a group");
}

NcclGroup::~NcclGroup() {
  if (open_) nccl_.group_end();
}

void NcclGroup::end(std::string_view doing) {
  open_ = false;
  nccl_.check(nccl_.group_end(), doing);
}

}  // namespace strata::cuda
