#include "sim/importers/topology/smi.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/text/diagnostics.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::size_t kItemLimit = 128;

/// Colours and underlines of a terminal taken out: ESC [ ... letter.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    while (i < line.size() && !(line[i] >= 'A' && line[i] <= 'z' && line[i] != '[')) ++i;
  }
  return plain;
}

bool is_gpu_name(std::string_view word) {
  if (!word.starts_with("GPU") || word.size() == 3) return false;
  return std::all_of(word.begin() + 3, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int> nvlink_count(std::string_view cell) {
  if (!cell.starts_with("NV")) return std::nullopt;
  int count = 0;
  const auto [end, error] = std::from_chars(cell.data() + 2, cell.data() + cell.size(), count);
  if (error != std::errc() || end != cell.data() + cell.size() || count < 1 || count > 1024) {
    return std::nullopt;
  }
  return count;
}

class SmiReader {
 public:
  SmiReader(std::string_view text, const std::string& file) : file_(file) {
    for (const std::string_view line : split(text, '\n')) {
      lines_.push_back(without_escapes(line));
    }
    matrix_.file = file;
  }

  SmiMatrix read() {
    std::size_t at = find_header();
    for (++at; at < lines_.size() && matrix_.rows.size() < names_.size(); ++at) {
      const std::vector<std::string_view> words = split_at_blanks(lines_[at]);
      if (!words.empty()) read_row(words, static_cast<int>(at) + 1);
    }
    if (matrix_.rows.size() < names_.size()) {
      fail(line_count(), fmt::format("the row of '{}' is missing", names_[matrix_.rows.size()]));
    }
    check_both_ways();
    for (; at < lines_.size(); ++at) read_legend(split_at_blanks(lines_[at]));
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    strata::fail({file_, line}, what);
  }
  int line_count() const { return static_cast<int>(lines_.size()); }

  std::size_t find_header() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::vector<std::string_view> words = split_at_blanks(lines_[i]);
      if (words.empty() || !is_gpu_name(words.front())) continue;
      if (words.size() > 1 && words[1] == "X")
        fail(static_cast<int>(i) + 1, "a row comes before the line that names the columns");
      read_header(words, static_cast<int>(i) + 1);
      return i;
    }
    fail(1, "no line names the columns: GPU0 GPU1 ...");
  }

  // Behind the devices come "CPU Affinity", "NUMA Affinity" and "GPU NUMA ID", as the version has
  // them.
  void read_header(const std::vector<std::string_view>& words, int line) {
    for (const std::string_view word : words) {
      if (word == "CPU" || word == "NUMA" || word == "GPU") break;
      if (std::find(names_.begin(), names_.end(), word) != names_.end()) {
        fail(line, fmt::format("'{}' is there twice", word));
      }
      names_.emplace_back(word);
    }
    if (names_.size() > kItemLimit) {
      fail(line, fmt::format("there are {} columns; allowed: {}", names_.size(), kItemLimit));
    }
  }

  void read_row(const std::vector<std::string_view>& words, int line) {
    const std::string& name = names_[matrix_.rows.size()];
    if (words.front() != name) {
      fail(line, fmt::format("'{}' stands where the row of '{}' is due", words.front(), name));
    }
    if (words.size() <= names_.size()) {
      fail(line, fmt::format("the row of '{}' has {} cells; allowed: {}", name, words.size() - 1,
                             names_.size()));
    }
    SmiMatrix::Row row{name, is_gpu_name(name), "", line, {}, {}};
    for (std::size_t i = 0; i < names_.size(); ++i) read_cell(words[i + 1], i, row);
    if (words.size() > names_.size() + 1) row.affinity = words[names_.size() + 1];
    matrix_.rows.push_back(std::move(row));
  }

  void read_cell(std::string_view cell, std::size_t column, SmiMatrix::Row& row) const {
    static const std::map<std::string_view, Nearness> kNames = {
        {"PIX", Nearness::pix},   {"PXB", Nearness::pxb}, {"PHB", Nearness::phb},
        {"NODE", Nearness::node}, {"SYS", Nearness::sys}, {"SOC", Nearness::sys}};
    const bool diagonal = column == matrix_.rows.size();
    const auto found = kNames.find(cell);
    const std::optional<int> count = nvlink_count(cell);
    const bool cards = !row.gpu || !is_gpu_name(names_[column]);
    if (diagonal ? cell != "X" : !(found != kNames.end() || (count && !cards))) {
      fail(row.line,
           fmt::format("'{}' between '{}' and '{}'; allowed: {}", cell, row.name, names_[column],
                       diagonal ? "X"
                       : cards  ? "PIX, PXB, PHB, NODE, SYS"
                                : "NV1, NV2, ..., PIX, PXB, PHB, NODE, SYS"));
    }
    row.to.push_back(diagonal ? Nearness::self : count ? Nearness::nvlink : found->second);
    row.nvlinks.push_back(count.value_or(0));
  }

  void check_both_ways() const {
    for (std::size_t a = 0; a < matrix_.rows.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const SmiMatrix::Row &x = matrix_.rows[a], &y = matrix_.rows[b];
        if (x.to[b] == y.to[a] && x.nvlinks[b] == y.nvlinks[a]) continue;
        fail(x.line, fmt::format("'{}' to '{}' is not what '{}' to '{}' is", x.name, y.name, y.name,
                                 x.name));
      }
    }
  }

  // "NIC0: mlx5_0"
  void read_legend(const std::vector<std::string_view>& words) {
    if (words.size() != 2 || !words[0].ends_with(':')) return;
    for (SmiMatrix::Row& row : matrix_.rows) {
      if (!row.gpu && row.name == words[0].substr(0, words[0].size() - 1)) row.name = words[1];
    }
  }

  const std::string& file_;
  std::vector<std::string> lines_;
  std::vector<std::string> names_;
  SmiMatrix matrix_;
};

}  // namespace

SmiMatrix read_smi_matrix(std::string_view text, const std::string& file) {
  return SmiReader(text, file).read();
}

}  // namespace strata
