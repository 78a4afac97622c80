#pragma once

// How the software that trains a mixture of experts brings tokens to experts, and how many each
// expert has: what-ifs, which leave what a network computes as it is. A value; thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strata {

/// How tokens come to the devices of their experts, and back; the names are Megatron-LM's.
enum class TokenDispatch : std::uint8_t {
  direct,     ///< each slot is sent to its place by itself, as Strata's executors do
  alltoall,   ///< slots are exchanged, and a pass on the receiver brings an expert's together
  allgather,  ///< every device gets all tokens of its group, and takes those of its experts
  deepep  ///< a token is sent once to each device, and once to each host, that has experts of it
};
inline constexpr std::array<std::string_view, 4> kTokenDispatchNames = {"direct", "alltoall",
                                                                        "allgather", "deepep"};

struct ExpertRouting {
  /// Experts of the layer's output, in its d; 0 where the output has tokens, or nothing is set.
  std::int64_t experts = 0;
  TokenDispatch dispatch = TokenDispatch::direct;
  /// By expert: tokens that it takes, over the mean of all. Empty: all experts take equally many.
  std::vector<double> load = {};
  /// The host reads how many tokens each expert has before it launches what follows the router.
  bool counts_on_host = false;
  /// A host launches a product for each expert, not one for all.
  bool product_each = false;
  bool operator==(const ExpertRouting&) const = default;
};

}  // namespace strata
