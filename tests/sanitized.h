#pragma once

// How much a build has time for: in a sanitizer's everything takes ten times as long.

namespace strata::testing {

// GCC defines macros, clang answers a question.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// The release build, which tries the most cases.
#ifdef NDEBUG
inline constexpr bool kRelease = true;
#else
inline constexpr bool kRelease = false;
#endif

}  // namespace strata::testing
