#include "sim/store/case_key.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>
// The header is all of the library then.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace strata {

CaseKey hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string hex(CaseKey key) {
  return fmt::format("{:016x}{:016x}", key.high, key.low);
}

std::array<unsigned char, 16> bytes_of(CaseKey key) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, {key.low, key.high});
  std::array<unsigned char, 16> bytes;
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), bytes.begin());
  return bytes;
}

CaseKey key_of(std::string_view bytes) {
  XXH128_canonical_t canonical;
  assert(bytes.size() == sizeof canonical.digest);
  std::copy(bytes.begin(), bytes.end(), std::begin(canonical.digest));
  const XXH128_hash_t hash = XXH128_hashFromCanonical(&canonical);
  return {hash.high64, hash.low64};
}

std::string hex_digits(std::string_view bytes) {
  std::string digits;
  for (char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

}  // namespace strata
