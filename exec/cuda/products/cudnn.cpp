#include "exec/cuda/products/cudnn.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "exec/cuda/device/out_of_memory.h"

namespace strata::cuda {

void Cudnn::check(cudnnStatus_t status, std::string_view doing) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 1024> words{};
  last_error_string(words.data(), words.size());
  std::string text = fmt::format("cuDNN {}: {}: {}", version(), doing, error_string(status));
  if (words[0] != '\0') text += fmt::format(" ({})", words.data());
  throw_refusal("cuDNN", text, status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
}

}  // namespace strata::cuda
