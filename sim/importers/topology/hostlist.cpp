#include "sim/importers/topology/hostlist.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/split.h"

namespace strata {
namespace {

[[noreturn]] void refuse(std::string_view list, std::string_view why) {
  throw InputError(fmt::format("'{}': {}; allowed: n1,n[2-4,7],rack[0-1]n[01-16]", list, why));
}

class Expansion {
 public:
  Expansion(std::string_view list, std::size_t limit) : list_(list), limit_(limit) {}

  std::vector<std::string> expand() {
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= list_.size(); ++i) {
      const char c = i < list_.size() ? list_[i] : ',';
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (depth < 0 || depth > 1) refuse(list_, "brackets do not match");
      if (c != ',' || depth > 0) continue;
      expand_one(list_.substr(begin, i - begin));
      begin = i + 1;
    }
    if (depth != 0) refuse(list_, "brackets do not match");
    return std::move(names_);
  }

 private:
  void expand_one(std::string_view name) {
    if (name.empty()) refuse(list_, "a name is empty");
    std::vector<std::string> found = {""};
    while (!name.empty()) {
      const std::size_t open = name.find('[');
      for (std::string& start : found) start += name.substr(0, open);
      if (open == name.npos) break;
      const std::size_t close = name.find(']', open);
      append(name.substr(open + 1, close - open - 1), found);
      name = name.substr(close + 1);
    }
    check(names_.size() + found.size());
    for (std::string& whole : found) names_.push_back(std::move(whole));
  }

  void append(std::string_view ranges, std::vector<std::string>& starts) const {
    std::vector<std::string> ends;
    for (const std::string_view range : split(ranges, ',')) append_range(range, ends);
    check(starts.size() * ends.size());
    std::vector<std::string> all;
    for (const std::string& start : starts) {
      for (const std::string& end : ends) all.push_back(start + end);
    }
    starts = std::move(all);
  }

  void append_range(std::string_view range, std::vector<std::string>& ends) const {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == range.npos ? low : range.substr(dash + 1);
    const std::uint64_t first = number(low), last = number(high);
    if (last < first) refuse(list_, fmt::format("'{}' runs backwards", range));
    check(ends.size() + (last - first) + 1);
    for (std::uint64_t i = first; i <= last; ++i) {
      ends.push_back(fmt::format("{:0{}}", i, static_cast<int>(low.size())));
    }
  }

  std::uint64_t number(std::string_view text) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && text.size() <= 15) return value;
    refuse(list_, fmt::format("'{}' is no number", text));
  }

  void check(std::uint64_t count) const {
    if (count > limit_) refuse(list_, fmt::format("it names more than {} hosts", limit_));
  }

  std::string_view list_;
  std::size_t limit_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list, std::size_t limit) {
  return Expansion(list, limit).expand();
}

}  // namespace strata
