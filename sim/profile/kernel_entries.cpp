#include "sim/profile/kernel_entries.h"

#include <fmt/format.h>

#include "sim/text/toml.h"

namespace strata {
namespace {

KernelKind read_kernel(const Value& value) {
  if (const auto kernel = find_kernel(value.as_string())) return *kernel;
  std::string names;
  for (std::size_t i = 0; i < kKernels; ++i) {
    names += (i > 0 ? ", " : "") + std::string(name(static_cast<KernelKind>(i)));
  }
  value.fail_expected("one of " + names);
}

DType read_type(const Value& value) {
  if (const auto dtype = parse_dtype(value.as_string())) return *dtype;
  value.fail_expected(fmt::format("one of {}", fmt::join(kDTypeNames, ", ")));
}

std::vector<double> read_parameters(KernelKind kernel, Table model) {
  std::vector<double> values;
  for (const KernelParameter& p : facts(kernel).parameters) {
    values.push_back(model.number(p.name, p.least, p.most));
  }
  model.finish();
  return values;
}

KernelTable read_entry(Table& entry) {
  KernelTable table;
  table.kernel = read_kernel(entry.required("name"));
  table.dtype = read_type(entry.required("dtype"));
  table.file = entry.string("rows");
  table.source = entry.string("source");
  table.licence = entry.string("licence");
  table.date = entry.string("date");
  table.note = entry.string_or("note", "");
  table.parameters = read_parameters(table.kernel, entry.table("model"));
  entry.finish();
  return table;
}

std::string print(const KernelTable& table) {
  std::string text = fmt::format("\n[[kernel]]\nname = {}\ndtype = {}\nrows = {}\n",
                                 toml_quoted(name(table.kernel)), toml_quoted(name(table.dtype)),
                                 toml_quoted(table.file));
  text += fmt::format("source = {}\nlicence = {}\ndate = {}\n", toml_quoted(table.source),
                      toml_quoted(table.licence), toml_quoted(table.date));
  if (!table.note.empty()) text += fmt::format("note = {}\n", toml_quoted(table.note));
  text += "[kernel.model]\n";
  const auto parameters = facts(table.kernel).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += fmt::format("{} = {}\n", parameters[i].name, table.parameters[i]);
  }
  return text;
}

}  // namespace

std::vector<KernelTable> read_kernel_entries(std::vector<Table> entries, Diagnostics& errors) {
  std::vector<KernelTable> tables;
  for (Table& entry : entries) {
    errors.attempt([&] {
      KernelTable table = read_entry(entry);
      for (const KernelTable& other : tables) {
        if (other.kernel != table.kernel || other.dtype != table.dtype) continue;
        entry.fail(fmt::format("a second table of {} in {}; each is given once", name(table.kernel),
                               name(table.dtype)));
      }
      tables.push_back(std::move(table));
    });
  }
  return tables;
}

std::string print_kernel_entries(const std::vector<KernelTable>& tables) {
  std::string text;
  for (const KernelTable& table : tables) text += print(table);
  return text;
}

std::string with_kernel_entries(std::string_view profile, const std::vector<KernelTable>& tables) {
  const std::string_view head = profile.substr(0, profile.find("\n[[kernel]]"));
  return std::string(head) + print_kernel_entries(tables);
}

}  // namespace strata
