#pragma once

// Kernel tables of a profile from files of measured rows, as anybody has them (docs/profiles.md,
// "Kernel tables"). Deterministic; thread-safe.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/kernels/fit_kernels.h"
#include "sim/profile/profile.h"

namespace strata {

/// A file of comma-separated rows. Its first line says which kernel's they are; rows of elementwise
/// passes by `rows` and `columns` need the operation's name, "relu" or "add".
struct KernelSource {
  std::string file, text;
  std::string operation;
};

/// What times count beside the kernel: nothing; what a call costs, the same for each; or what
/// grows, besides, from each row of a file to the next, as in runs that gather ever more records.
enum class CallOverheads : std::uint8_t { none, constant, growing };

struct KernelImport {
  DType dtype = DType::fp32;
  std::string source, licence, date;
  double tolerance = 0;  ///< rows predicted this well by others are left out; 0: none
  CallOverheads overheads = CallOverheads::none;
};

/// What was taken off the rows of a file.
struct FileOverhead {
  std::string file;
  CallOverhead overhead;
};

/// A table and what was found on the way.
struct ImportedTable {
  KernelTable table;
  std::size_t read = 0;       ///< rows of the files, without the two kinds below
  std::size_t repeated = 0;   ///< rows more of a shape that has one: the median stands for them
  std::size_t too_short = 0;  ///< rows of which what a call costs is most
  std::vector<FileOverhead> overheads;
  LeftOutErrors left_out;  ///< of all rows that were read
  LeftOutErrors kept;      ///< of all rows, by the table of those that are kept
};

/// One table for each kernel that the sources are of, in the order of KernelKind. `profile` says
/// what the fit begins with. Throws InputError "FILE:LINE: ...".
std::vector<ImportedTable> import_tables(const Profile& profile,
                                         const std::vector<KernelSource>& sources,
                                         const KernelImport& options);

/// The profile with these tables instead of its own of the same kernels and data types.
Profile with_tables(Profile profile, const std::vector<ImportedTable>& tables);

}  // namespace strata
