// What a tool that watches the program is told of ranges. The tool is this test, which NVTX finds
// where tools that are linked to a program stand.

#include "exec/cuda/device/range.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

namespace {

std::vector<std::string>& heard() {
  static std::vector<std::string> lines;
  return lines;
}

nvtxDomainHandle_t make_domain(const char* name) {
  static int domain = 0;
  heard().push_back(std::string("domain ") + name);
  return reinterpret_cast<nvtxDomainHandle_t>(&domain);
}

nvtxStringHandle_t keep_name(nvtxDomainHandle_t, const char* name) {
  return reinterpret_cast<nvtxStringHandle_t>(new std::string(name));
}

int push(nvtxDomainHandle_t, const nvtxEventAttributes_t* told) {
  const auto& name = *reinterpret_cast<const std::string*>(told->message.registered);
  heard().push_back("begin " + name + " " + std::to_string(told->payload.ullValue));
  return 0;
}

int pop(nvtxDomainHandle_t) {
  heard().emplace_back("end");
  return 0;
}

template <class Function>
void answer(NvtxFunctionTable table, NvtxCallbackIdCore2 which, Function* function) {
  *table[which] = reinterpret_cast<NvtxFunctionPointer>(function);
}

int begin_to_watch(NvtxGetExportTableFunc_t table_of) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(table_of(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  answer(table, NVTX_CBID_CORE2_DomainCreateA, make_domain);
  answer(table, NVTX_CBID_CORE2_DomainRegisterStringA, keep_name);
  answer(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  answer(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}

}  // namespace

namespace strata::cuda {
namespace {

TEST(Range, IsToldToWhoWatches) {
  InitializeInjectionNvtx2_fnptr = begin_to_watch;
  ASSERT_TRUE(is_watched());
  const RangeName step("step"), task("layer conv1: forward, shard 0 on cuda0");
  {
    const Range outer(step, 7);
    const Range inner(task, 7);
    const Range of_nothing(RangeName(), 7);
  }
  EXPECT_THAT(heard(), ::testing::ElementsAre("domain strata", "begin step 7",
                                              "begin layer conv1: forward, shard 0 on cuda0 7",
                                              "end", "end"));
}

}  // namespace
}  // namespace strata::cuda
