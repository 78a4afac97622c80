#pragma once

#include <string>
#include <string_view>

namespace strata {

// The absolute path of a file of this checkout, named from its root. Only one source knows where
// the checkout is, so that the objects of all others are the same in every clone.
std::string source_path(std::string_view name);

}  // namespace strata
