#pragma once

// What an error says where a GPU's memory is short: which GPU, what was asked for, and how much is
// free. Thread-safe.

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::cuda {

/// "out of memory: GPU 0 has no room for 9437184 bytes more; 4194304 are free".
std::string out_of_memory(int gpu, std::int64_t bytes);
/// What a library refused, which does not tell how much it wanted: "out of memory: GPU 0 has no
/// room for launching a kernel; 4194304 bytes are free (CUDA: out of memory)".
std::string out_of_memory(int gpu, std::string_view doing, std::string_view words);

/// Throws EnvironmentError with what a library says of a call that it refused: that memory is short
/// where it says so itself, or where CUDA had refused it some, of which it may only tell that
/// something failed. Forgets the thread's last error.
[[noreturn]] void throw_refusal(std::string_view library, const std::string& words, bool no_memory);

}  // namespace strata::cuda
