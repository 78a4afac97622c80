#pragma once

#include <string_view>

namespace strata {

/// The functions of a module, which read its tables and make torch's objects of them. Internal to
/// sim/exporters.
std::string_view dtensor_functions();

}  // namespace strata
