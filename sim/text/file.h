#pragma once

// Files, read whole and written whole or not at all.

#include <cstdint>
#include <string>
#include <string_view>

namespace strata {

inline constexpr std::int64_t kFileSizeLimit = std::int64_t{1} << 32;

/// Throws InputError "FILE: cannot be read: REASON": it is missing, a folder, or larger than
/// `size_limit` bytes.
std::string read_file(const std::string& path, std::int64_t size_limit = kFileSizeLimit);

/// Writes a temporary file in the same folder, flushes it to the disk and gives it the name, so
/// that no one ever sees half of it, and a failure leaves what was there. A symbolic link stays
/// one: the file that it names is replaced. What is no regular file (/dev/stdout, a pipe) is
/// written to directly. Throws EnvironmentError "FILE: cannot be written: REASON", where FILE is
/// `shown` if that is given: a file of a folder that has another name until it is whole.
void write_file_whole(const std::string& path, std::string_view content,
                      const std::string& shown = "");

/// What a name leads to, in one form for all names of a file that is there or could be written:
/// links followed, "./" and the like taken out. The name itself where that cannot be told.
std::string file_behind(const std::string& path);

/// The name of a file without its folder and its ending, for what is in it and has no other name.
/// Throws InputError "FILE: ..." unless it is UTF-8.
std::string name_from_file(const std::string& path);

/// Whether write_file_whole could begin, for commands that work long before they write: throws what
/// it would throw, and leaves no trace. It tries, for a temporary file that can be made proves more
/// than the folder's mode.
void check_can_write(const std::string& path);

}  // namespace strata
