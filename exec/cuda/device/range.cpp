#include "exec/cuda/device/range.h"

// Its functions look for a tool when they are first called, and link to nothing.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define STRATA_NVTX
#endif

namespace strata::cuda {

#ifdef STRATA_NVTX
namespace {

// Null where no tool is there to make one.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("strata");
  return made;
}

}  // namespace

bool is_watched() {
  return domain() != nullptr;
}

RangeName::RangeName(const std::string& name)
    : handle_(is_watched() ? nvtxDomainRegisterStringA(domain(), name.c_str()) : nullptr) {}

Range::Range(RangeName name, std::uint64_t number) : begun_(name.handle() != nullptr) {
  if (!begun_) return;
  nvtxEventAttributes_t told{};
  told.version = NVTX_VERSION;
  told.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  told.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  told.message.registered = static_cast<nvtxStringHandle_t>(name.handle());
  told.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  told.payload.ullValue = number;
  nvtxDomainRangePushEx(domain(), &told);
}

Range::~Range() {
  if (begun_) nvtxDomainRangePop(domain());
}

#else

bool is_watched() {
  return false;
}
RangeName::RangeName(const std::string&) {}
Range::Range(RangeName, std::uint64_t) : begun_(false) {}
Range::~Range() = default;

#endif

}  // namespace strata::cuda
