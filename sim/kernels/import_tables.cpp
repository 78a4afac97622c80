#include "sim/kernels/import_tables.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/text/diagnostics.h"

namespace strata {
namespace {

// How many tensors a pass of the operation reads and writes.
struct Pass {
  std::string_view operation;
  std::int64_t tensors;
};
constexpr Pass kPasses[] = {{"relu", 2}, {"add", 3}};

// "rows,columns,ms" says how many elements, but not of what; the columns that the kernel has are
// put into the text's first line in their place, and the numbers are multiplied below.
constexpr std::string_view kGrid = "rows,columns,ms";

// Where the line with the names of the columns is.
struct NamesLine {
  std::size_t begin = 0, end = 0;
};
NamesLine names_line(std::string_view text) {
  const auto end_of_line = [&](std::size_t begin) {
    return std::min(text.find('\n', begin), text.size());
  };
  std::size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (text.substr(begin).starts_with('#')) {
    begin = std::min(end_of_line(begin) + 1, text.size());
  }
  return {begin, end_of_line(begin)};
}

bool is_grid(std::string_view text) {
  const NamesLine line = names_line(text);
  std::string names(text.substr(line.begin, line.end - line.begin));
  std::erase_if(names, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return names == kGrid;
}

std::vector<KernelRow> grid_rows(const KernelSource& source) {
  const auto pass = std::find_if(std::begin(kPasses), std::end(kPasses),
                                 [&](const Pass& p) { return p.operation == source.operation; });
  if (pass == std::end(kPasses)) {
    fail({source.file, 1},
         source.operation.empty()
             ? "rows and columns do not say how many tensors a pass reads and "
               "writes; allowed: relu=FILE or add=FILE"
             : fmt::format("no operation '{}'; allowed: relu, add", source.operation));
  }
  const NamesLine line = names_line(source.text);
  const std::string text = source.text.substr(0, line.begin) + "tensors,elements,ms" +
                           source.text.substr(line.end);  // rows as tensors, for a moment
  std::vector<KernelRow> rows = parse_kernel_rows(KernelKind::elementwise, text, source.file);
  for (KernelRow& row : rows) {
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(row.shape[0], row.shape[1], &elements)) {
      throw InputError(fmt::format("{}: {} rows of {} columns are too many elements", source.file,
                                   row.shape[0], row.shape[1]));
    }
    row.shape = {pass->tensors, elements};
  }
  return rows;
}

KernelKind kernel_of(const KernelSource& source) {
  if (is_grid(source.text)) return KernelKind::elementwise;
  if (const auto kernel = kernel_of_header(source.text)) return *kernel;
  std::string allowed;
  for (std::size_t i = 0; i < kKernels; ++i) {
    allowed += i > 0 ? "; " : "";
    for (const KernelColumn& column : facts(static_cast<KernelKind>(i)).columns) {
      if (!column.absent) allowed += std::string(column.name) + ",";
    }
    allowed += "ms";
  }
  fail({source.file, 1}, "the first line names no kernel's columns; allowed: " + allowed);
}

// Where a pass takes as long as the host takes to call it, its time says nothing of the device.
std::vector<KernelRow> above_floor(const std::vector<KernelRow>& rows) {
  constexpr double kClear = 1.5;
  double least = rows.front().ms;
  for (const KernelRow& row : rows) least = std::min(least, row.ms);
  std::vector<KernelRow> above;
  for (const KernelRow& row : rows) {
    if (row.ms > kClear * least) above.push_back(row);
  }
  return above.empty() ? rows : above;
}

// Of one file, in its order: what a call costs may grow from row to row.
std::vector<KernelRow> corrected(KernelTable table, const KernelImport& options, Seconds launch,
                                 CallOverhead& overhead) {
  if (table.kernel == KernelKind::elementwise) table.rows = above_floor(table.rows);
  const bool grows = options.overheads == CallOverheads::growing;
  overhead = fitted_overhead(table, table.parameters, launch, grows);
  return without_overhead(table.rows, overhead);
}

std::string overhead_note(const FileOverhead& of, bool named) {
  const double grows = of.overhead.growth.value * 1e6;
  return fmt::format(
      "{:.1f} us of call overhead taken off each row{}{}. ", of.overhead.each.value * 1e6,
      named ? " of " + std::filesystem::path(of.file).filename().string() : "",
      grows > 0 ? fmt::format(", and {:.4f} us more for each row before it in its file", grows)
                : "");
}

std::string note_of(const ImportedTable& imported, const KernelImport& options) {
  std::string note;
  for (const FileOverhead& each : imported.overheads) {
    note += overhead_note(each, imported.overheads.size() > 1);
  }
  if (imported.too_short > 0) {
    note += fmt::format("{} row{} left out of which that is most. ", imported.too_short,
                        imported.too_short > 1 ? "s" : "");
  }
  if (imported.repeated > 0) {
    note += fmt::format("{} row{} more of the same shapes: the median stands for them. ",
                        imported.repeated, imported.repeated > 1 ? "s" : "");
  }
  if (options.tolerance > 0) {
    note += fmt::format("{} of {} rows kept: the others are predicted from them within {:.3g} %.",
                        imported.table.rows.size(), imported.read, 100 * options.tolerance);
  }
  if (note.ends_with(' ')) note.pop_back();
  return note;
}

ImportedTable imported_table(const Profile& profile, KernelKind kernel,
                             const std::vector<KernelSource>& sources,
                             const KernelImport& options) {
  ImportedTable result;
  KernelTable& table = result.table;
  table = {kernel, options.dtype, options.source, options.licence, options.date, {}, {}, {}, {}};
  const std::vector<double> from = first_parameters(kernel, profile, options.dtype);
  table.parameters = from;
  std::vector<KernelRow> all;
  for (const KernelSource& source : sources) {
    std::vector<KernelRow> rows = is_grid(source.text)
                                      ? grid_rows(source)
                                      : parse_kernel_rows(kernel, source.text, source.file);
    if (rows.empty()) fail({source.file, 0}, "it has no rows");
    if (options.overheads != CallOverheads::none) {
      KernelTable file = table;
      file.rows = std::move(rows);
      const std::size_t before = file.rows.size();
      rows = corrected(std::move(file), options, profile.efficiency.launch.value,
                       result.overheads.emplace_back(FileOverhead{source.file, {}}).overhead);
      result.too_short += before - rows.size();
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  result.repeated = all.size();
  table.rows = sorted_rows(std::move(all));
  result.repeated -= table.rows.size();
  table.parameters = fitted_parameters(table, from);
  result.read = table.rows.size();
  result.left_out = left_out_errors(table);
  const std::vector<KernelRow> rows = table.rows;
  if (options.tolerance > 0) table = thinned(std::move(table), options.tolerance);
  result.kept = errors_of(table, rows);
  table.note = note_of(result, options);
  return result;
}

}  // namespace

std::vector<ImportedTable> import_tables(const Profile& profile,
                                         const std::vector<KernelSource>& sources,
                                         const KernelImport& options) {
  std::array<std::vector<KernelSource>, kKernels> by_kernel;
  Diagnostics errors;
  for (const KernelSource& source : sources) {
    errors.attempt(
        [&] { by_kernel[static_cast<std::size_t>(kernel_of(source))].push_back(source); });
  }
  errors.throw_if_any();
  std::vector<ImportedTable> tables;
  for (std::size_t i = 0; i < kKernels; ++i) {
    if (by_kernel[i].empty()) continue;
    errors.attempt([&] {
      tables.push_back(imported_table(profile, static_cast<KernelKind>(i), by_kernel[i], options));
    });
  }
  errors.throw_if_any();
  return tables;
}

Profile with_tables(Profile profile, const std::vector<ImportedTable>& tables) {
  for (const ImportedTable& imported : tables) {
    const KernelTable& table = imported.table;
    std::erase_if(profile.tables, [&](const KernelTable& own) {
      return own.kernel == table.kernel && own.dtype == table.dtype;
    });
    profile.tables.push_back(table);
  }
  return profile;
}

}  // namespace strata
