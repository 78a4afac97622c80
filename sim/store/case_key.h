#pragma once

// The forms of a CaseKey: 16 bytes in the file, the highest first, so that SQL's hex() of them is
// hex() here. Pure.

#include <array>
#include <string>
#include <string_view>

#include "sim/store/store.h"

namespace strata {

std::array<unsigned char, 16> bytes_of(CaseKey key);
/// Of the 16 bytes.
CaseKey key_of(std::string_view bytes);

/// Two lower-case digits a byte.
std::string hex_digits(std::string_view bytes);

}  // namespace strata
