#include "cli/dtype_option.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

void add_dtype_option(CLI::App& command, std::string& dtype, const std::string& help) {
  command.add_option("--dtype", dtype, help);
}

DType dtype_of(const std::string& dtype) {
  if (const auto known = parse_dtype(dtype)) return *known;
  throw InputError(fmt::format("--dtype {}: unknown; allowed: fp32, tf32, bf16, fp16", dtype));
}

}  // namespace strata
