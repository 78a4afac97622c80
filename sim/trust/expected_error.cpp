#include "sim/trust/expected_error.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/text/embedded.h"
#include "sim/text/split.h"
#include "sim/text/units.h"

namespace strata {

// Of profiles/published.
std::span<const EmbeddedFile> published_errors();

namespace {

constexpr std::string_view kErrorHeader =
    "kind,family,framework,dtype,figures,fitted,rows,devices,hosts,parameters,mean,p95,low,high";
constexpr std::size_t kErrorColumns = 14;

template <std::size_t N>
std::size_t read_name(std::string_view text, const std::array<std::string_view, N>& names,
                      std::string_view what) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  throw InputError(fmt::format("'{}' is no {}; allowed: {}", text, what, fmt::join(names, ", ")));
}

ErrorRecord read_record(std::string_view line) {
  const std::vector<std::string_view> cells = split(line, ',');
  if (cells.size() != kErrorColumns) {
    throw InputError(fmt::format("{} columns; allowed: {}", cells.size(), kErrorColumns));
  }
  const auto count = [&](std::size_t column) {
    const double number = parse_number(cells[column]);
    if (number >= 0 && number <= 1e15) return static_cast<std::size_t>(number);
    throw InputError(fmt::format("'{}' is no count", cells[column]));
  };
  if (cells[5] != "yes" && cells[5] != "no") {
    throw InputError(fmt::format("'{}' must be yes or no", cells[5]));
  }
  ErrorRecord record;
  record.sort.kind = cells[0];
  record.sort.family =
      static_cast<NetworkFamily>(read_name(cells[1], kNetworkFamilyNames, "family"));
  record.sort.framework = std::string(cells[2]);
  record.sort.dtype = cells[3];
  record.error = {std::string(cells[4]),
                  cells[5] == "yes",
                  count(6),
                  count(7),
                  count(8),
                  static_cast<std::int64_t>(count(9)),
                  parse_number(cells[10], "mean"),
                  parse_number(cells[11], "p95"),
                  parse_number(cells[12], "low"),
                  parse_number(cells[13], "high")};
  return record;
}

}  // namespace

const std::vector<ErrorRecord>& shipped_errors() {
  static const std::vector<ErrorRecord> records =
      parse_errors(published_errors().front().text, "errors.csv");
  return records;
}

bool is_of_names(const CaseRequest& request) {
  const bool changed =
      std::ranges::any_of(request.sets, [](const auto& set) { return changes_times(set.first); });
  return !changed && request.profiles.empty() && !request.cluster.ends_with(".toml");
}

std::string print_errors(std::span<const ErrorRecord> records) {
  std::string text(kErrorHeader);
  text += '\n';
  for (const auto& [sort, error] : records) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", sort.kind,
                        kNetworkFamilyNames[static_cast<std::size_t>(sort.family)], sort.framework,
                        sort.dtype, error.figures, error.fitted ? "yes" : "no", error.rows,
                        error.devices, error.hosts, error.parameters, error.mean, error.p95,
                        error.low, error.high);
  }
  return text;
}

std::vector<ErrorRecord> parse_errors(std::string_view text, const std::string& file) {
  std::vector<ErrorRecord> records;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    try {
      if (number == 1 && line != kErrorHeader) {
        throw InputError(fmt::format("the first line must be {}", kErrorHeader));
      }
      if (number > 1 && !line.empty()) records.push_back(read_record(line));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: {}", file, number, error.message()));
    }
  }
  return records;
}

std::optional<ExpectedError> expected_error(const CaseRequest& request, const Case& input) {
  if (!is_of_names(request)) return std::nullopt;
  const PredictionSort sort = sort_of(input);
  const std::size_t devices = input.cluster.device_count(), hosts = input.cluster.host_count();
  const std::int64_t parameters = input.graph.parameters();
  std::optional<ExpectedError> found;
  for (const ErrorRecord& record : shipped_errors()) {
    const bool reaches = record.error.devices >= devices && record.error.hosts >= hosts &&
                         record.error.parameters >= parameters;
    if (record.sort != sort || !reaches) continue;
    if (!found || record.error.rows > found->rows) found = record.error;
  }
  return found;
}

}  // namespace strata
