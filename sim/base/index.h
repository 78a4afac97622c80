#pragma once

// A typed position in a vector: a LayerId can't be passed for a DeviceId. Dense, from 0.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace strata {

template <class Tag>
struct Index {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  constexpr Index() = default;
  constexpr explicit Index(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}

  constexpr bool valid() const { return value != std::numeric_limits<std::uint32_t>::max(); }
  constexpr std::size_t operator()() const { return value; }
  constexpr auto operator<=>(const Index&) const = default;
};

using LayerId = Index<struct LayerTag>;
using DeviceId = Index<struct DeviceTag>;
using LinkId = Index<struct LinkTag>;
using TaskId = Index<struct TaskTag>;

}  // namespace strata

template <class Tag>
struct std::hash<strata::Index<Tag>> {
  std::size_t operator()(strata::Index<Tag> index) const noexcept { return index.value; }
};
