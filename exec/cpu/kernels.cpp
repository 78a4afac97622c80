#include "exec/cpu/kernels.h"

#include <variant>

#include "sim/base/error.h"

namespace strata::cpu {
namespace {

std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const Input&) {
  throw InternalError("a network input runs no kernel");
}
std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const Opaque&) {
  throw InternalError("nothing computes an opaque op");
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec) {
  return std::visit([&](const auto& op) { return make_kernel(spec, op); }, (*spec).op);
}

}  // namespace strata::cpu
