#include <concepts>
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

template <class Op>
concept IsTokenOp =
    std::same_as<Op, Linear> || std::same_as<Op, Attention> || std::same_as<Op, GatedActivation> ||
    std::same_as<Op, RmsNorm> || std::same_as<Op, Embedding> ||
    std::same_as<Op, PositionEmbedding> || std::same_as<Op, Tokens> ||
    std::same_as<Op, ClassToken> || std::same_as<Op, SelectToken>;
template <IsTokenOp Op>
std::unique_ptr<Kernel> make_kernel(Seat&, const ShardSpec&, const Op&) {
  throw InternalError("no kernel yet");
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec) {
  return std::visit([&](const auto& op) { return make_kernel(seat, spec, op); }, (*spec).op);
}

}  // namespace strata::cuda
