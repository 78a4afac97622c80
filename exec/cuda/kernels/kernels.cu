#include <variant>

#include "exec/cuda/kernels/kernels.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

std::unique_ptr<Kernel> make_kernel(Seat&, const ShardSpec&, const Input&) {
  throw InternalError("a network input runs no kernel");
}
std::unique_ptr<Kernel> make_kernel(Seat&, const ShardSpec&, const Opaque&) {
  throw InternalError("nothing computes an opaque op");
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec) {
  return std::visit([&](const auto& op) { return make_kernel(seat, spec, op); }, (*spec).op);
}

}  // namespace strata::cuda
