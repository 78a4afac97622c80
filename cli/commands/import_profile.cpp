// `strata import profile --kind K SOURCE...`: kernel tables of a profile from files of measured
// rows.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/imports.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/table.h"
#include "sim/base/error.h"
#include "sim/json/profile_json.h"
#include "sim/kernels/import_tables.h"
#include "sim/profile/write_profile.h"
#include "sim/text/diagnostics.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kTableLimit = std::int64_t{256} << 20;
constexpr std::string_view kUsualTolerance = "2";  // per cent

struct ImportProfileFlags {
  std::vector<std::string> sources;
  std::string kind, output, name, description, dtype = "fp32", source, licence, date,
                                               overhead = "none";
  std::string tolerance{kUsualTolerance};
  bool check = false, json = false;
};

double tolerance_of(const std::string& text) try {
  constexpr double kMost = 50;
  const double value = parse_number(text);
  if (value >= 0 && value <= kMost) return value;
  throw InputError(fmt::format("'{}' is no such share", text));
} catch (const InputError& error) {
  throw InputError(fmt::format("--tolerance: {}; allowed: 0 to 50, per cent", error.message()));
}

DType type_of_rows(const std::string& text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  throw InputError(
      fmt::format("--dtype: '{}' is no dtype; allowed: {}", text, fmt::join(kDTypeNames, ", ")));
}

CallOverheads read_overheads(const std::string& text) {
  if (text == "none") return CallOverheads::none;
  if (text == "constant") return CallOverheads::constant;
  if (text == "growing") return CallOverheads::growing;
  throw InputError(fmt::format("--overhead: '{}'; allowed: none, constant, growing", text));
}

void check_text(const std::string& option, const std::string& text) {
  if (!is_utf8(text)) throw InputError(option + ": it is not UTF-8; allowed: UTF-8");
}

// OPERATION=FILE, or FILE.
std::pair<std::string, std::string> parts_of(const std::string& source) {
  const std::size_t at = source.find('=');
  const bool named = at != std::string::npos && source.substr(0, at).find('/') == std::string::npos;
  return named ? std::pair(source.substr(0, at), source.substr(at + 1)) : std::pair("", source);
}

std::vector<KernelSource> read_tables(const ImportProfileFlags& flags) {
  std::vector<KernelSource> sources;
  for (const std::string& each : flags.sources) {
    const auto [operation, file] = parts_of(each);
    std::string text = read_file(file, kTableLimit);
    check_utf8(text, file);
    sources.push_back({file, std::move(text), operation});
  }
  return sources;
}

std::vector<std::string> files_read(const ImportProfileFlags& flags) {
  std::vector<std::string> files;
  files.reserve(flags.sources.size());
  for (const std::string& each : flags.sources) files.push_back(parts_of(each).second);
  return files;
}

KernelImport import_options(const ImportProfileFlags& flags) {
  check_text("--source", flags.source);
  check_text("--licence", flags.licence);
  check_text("--date", flags.date);
  KernelImport options;
  options.dtype = type_of_rows(flags.dtype);
  options.source = flags.source;
  options.licence = flags.licence;
  options.date = flags.date.empty() ? today() : flags.date;
  options.tolerance = tolerance_of(flags.tolerance) / 100;
  options.overheads = read_overheads(flags.overhead);
  const bool blank = flags.source.find_first_not_of(" \t\r\n") == std::string::npos;
  if (!flags.check && blank) {
    throw InputError(
        "--source: a profile names who measured its rows; allowed: a text such as \"our cluster, "
        "CUDA 12.4\"");
  }
  return options;
}

// Of the profile's own rows, as they are.
std::vector<ImportedTable> own_tables(const Profile& profile) {
  std::vector<ImportedTable> tables;
  for (const KernelTable& table : profile.tables) {
    ImportedTable& own = tables.emplace_back();
    own.table = table;
    own.read = table.rows.size();
    own.left_out = own.kept = left_out_errors(table);
  }
  return tables;
}

// How far the profile's tables are off for the rows of files.
std::vector<ImportedTable> compared_tables(const Profile& profile,
                                           std::vector<ImportedTable> files) {
  for (ImportedTable& file : files) {
    const auto own =
        std::find_if(profile.tables.begin(), profile.tables.end(), [&](const KernelTable& table) {
          return table.kernel == file.table.kernel && table.dtype == file.table.dtype;
        });
    if (own == profile.tables.end()) {
      throw InputError(fmt::format("{}: it has no table of {} in {}; allowed: a profile that has",
                                   profile.kind, name(file.table.kernel), name(file.table.dtype)));
    }
    file.kept = errors_of(*own, file.table.rows);
    file.table.rows = own->rows;
  }
  return files;
}

// Rows of the profile's own tables that these stand in for, by table.
std::vector<std::size_t> replaced_rows(const Profile& profile,
                                       const std::vector<ImportedTable>& tables) {
  std::vector<std::size_t> replaced;
  replaced.reserve(tables.size());
  for (const ImportedTable& imported : tables) {
    replaced.push_back(0);
    for (const KernelTable& own : profile.tables) {
      const bool same = own.kernel == imported.table.kernel && own.dtype == imported.table.dtype;
      if (same) replaced.back() += own.rows.size();
    }
  }
  return replaced;
}

std::string share_text(double share) {
  return fmt::format("{:.1f}%", 100 * share);
}

std::string errors_text(const LeftOutErrors& errors) {
  TextTable text;
  const auto add = [&](const std::string& size, const LeftOutErrors::Size& of) {
    const auto share = [&](double error) { return of.rows > 0 ? share_text(error) : ""; };
    text.add({{"rows that take", size},
              {"rows", fmt::format("{}", of.rows)},
              {"interpolated: median", share(of.table.median)},
              {"p95", share(of.table.p95)},
              {"roofline: median", share(of.roofline.median)},
              {"p95 ", share(of.roofline.p95)}});
  };
  for (const LeftOutErrors::Size& size : errors.sizes) {
    add(fmt::format("{} to {}", format_seconds({size.least_seconds}),
                    format_seconds({10 * size.least_seconds})),
        size);
  }
  add("any time", errors.all);
  return text.print();
}

void print_table(const ImportedTable& imported, bool read) {
  const KernelTable& table = imported.table;
  if (read) {
    print("{}, {}: {} rows read, {} kept\n", facts(table.kernel).summary, name(table.dtype),
          imported.read, table.rows.size());
  } else {
    print("{}, {}: {} rows\n", facts(table.kernel).summary, name(table.dtype), table.rows.size());
  }
  if (!table.note.empty()) print("{}\n", table.note);
  print("Errors of rows that are left out, a fifth at a time:\n{}\n",
        errors_text(imported.left_out));
  if (!read) return;
  print("Errors of all rows, each predicted from the other rows of the profile:\n{}\n",
        errors_text(imported.kept));
}

void run_import(ImportProfileFlags flags) {
  Profile profile = load_profile(flags.kind);
  const std::string kind = profile.kind;
  const bool read = !flags.sources.empty();
  if (!read && !flags.check) {
    throw InputError(
        "import profile: no source is given; allowed: files of measured rows, or --check for the "
        "rows of the profile itself");
  }
  if (flags.check && !flags.output.empty()) {
    throw InputError("--check writes no file; allowed: without -o");
  }
  if (!flags.check && flags.output.empty()) flags.output = profile.kind + ".toml";
  if (!flags.output.empty()) check_profile_file(flags.output);
  check_outputs({flags.output}, files_read(flags));
  KernelImport options = import_options(flags);
  if (flags.check) options.tolerance = 0;
  std::vector<ImportedTable> tables =
      read ? import_tables(profile, read_tables(flags), options) : own_tables(profile);
  if (flags.check && read) tables = compared_tables(profile, std::move(tables));
  const std::vector<std::size_t> replaced =
      flags.check ? std::vector<std::size_t>(tables.size()) : replaced_rows(profile, tables);
  if (!flags.check) {
    Profile written = with_tables(std::move(profile), tables);
    check_outputs(kernel_table_files(flags.output, written), files_read(flags));
    write_with_tables(flags.output, profile_text(flags.kind), std::move(written));
  }
  if (flags.json) return print_json(imported_tables_json(kind, tables, replaced, flags.output));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    print_table(tables[i], read);
    if (replaced[i] > 0) {
      print("They stand in for all {} rows of {} in {} that {} had.\n", replaced[i],
            facts(tables[i].table.kernel).summary, name(tables[i].table.dtype), flags.kind);
    }
  }
  if (!flags.output.empty()) print("Written: {}, and the rows beside it.\n", flags.output);
}

}  // namespace

void add_import_profile(CLI::App& import) {
  CLI::App* command =
      import.add_subcommand("profile", "put measured kernels into a device profile");
  auto flags = std::make_shared<ImportProfileFlags>();
  command->add_option("SOURCE", flags->sources,
                      "files of comma-separated rows, whose first line says of which kernel: "
                      "docs/profiles.md lists the columns; relu=FILE and add=FILE for passes by "
                      "rows and columns");
  command
      ->add_option("--kind", flags->kind,
                   "the profile that gets the tables: a kind that ships, or a .toml file")
      ->required();
  command->add_option("-o,--output", flags->output,
                      "write FILE.toml, and the rows beside it (default: KIND.toml)");
  command->add_option("--dtype", flags->dtype, "of the rows (default fp32)");
  command->add_option("--source", flags->source, "who measured the rows, and with what");
  command->add_option("--licence", flags->licence, "of the rows");
  command->add_option("--date", flags->date, "of the import (default: today)");
  command->add_option("--tolerance", flags->tolerance,
                      "leave out rows that the others predict this well, in percent; 0 keeps all "
                      "(default 2)");
  command->add_option(
      "--overhead", flags->overhead,
      "what the times count beside the kernel, which is fitted and taken off: none, "
      "constant, or growing from row to row (default none)");
  command
      ->add_flag("--check", flags->check,
                 "write nothing: how far the profile is off for rows that it does not have, or "
                 "for those of files")
      ->disable_flag_override();
  command->add_flag("--json", flags->json, "print what was found as JSON")->disable_flag_override();
  command->callback([flags] { run_import(*flags); });
}

}  // namespace strata
