#include "gui/models/timeline/range_sums.h"

#include <algorithm>
#include <array>
#include <map>

#include "gui/models/text.h"
#include "sim/plan/work_kind.h"

namespace strata::gui {
namespace {

/// A slice as far as it lies in the range.
struct CutSlice {
  const Slice* slice;
  double begin, end;
};

std::vector<CutSlice> slices_in(const Lane& lane, const TimeRange& range) {
  std::vector<CutSlice> cut;
  const std::size_t last = lane.beginning_at(range.end.value);
  for (std::size_t i = lane.ending_after(range.begin.value); i < last; ++i) {
    const Slice& slice = lane.slices()[i];
    cut.push_back(
        {&slice, std::max(slice.begin, range.begin.value), std::min(slice.end, range.end.value)});
  }
  return cut;
}

class RangeAdder {
 public:
  RangeAdder(const Recording& recording, const TimeRange& range, SumBy by)
      : recording_(recording), range_(range), by_(by) {}

  RangeSums run() && {
    std::map<std::string, std::vector<const Lane*>> devices;
    for (const Lane& lane : recording_.lanes) {
      if (stands_for_tasks(lane.name().kind)) devices[lane.name().group].push_back(&lane);
    }
    for (const auto& [name, lanes] : devices) add_device(name, lanes);
    RangeSums result;
    result.all = static_cast<double>(devices.size()) * range_.length().value;
    result.rows.reserve(sums_.size());
    for (const auto& [key, sum] : sums_) result.rows.push_back(sum);
    const auto time = [](const RangeSum& sum) { return -(sum.compute + sum.communication); };
    std::ranges::stable_sort(result.rows, {}, time);
    return result;
  }

 private:
  void add_device(const std::string& name, const std::vector<const Lane*>& lanes) {
    const Lane* computes = nullptr;
    std::vector<CutSlice> others;
    for (const Lane* lane : lanes) {
      const std::vector<CutSlice> cut = slices_in(*lane, range_);
      if (lane->name().kind != LaneKind::device) {
        others.insert(others.end(), cut.begin(), cut.end());
      } else if (lane->name().depth == 0) {
        computes = lane;
        for (const CutSlice& slice : cut) add(name, slice).compute += slice.end - slice.begin;
      }
    }
    for (const CutSlice& slice : others) add(name, slice);
    share_out(name, std::move(others), computes);
  }

  // From each begin or end to the next, what is under way then has equal parts.
  void share_out(const std::string& name, std::vector<CutSlice> slices, const Lane* computes) {
    std::vector<double> times;
    times.reserve(2 * slices.size());
    for (const CutSlice& slice : slices) times.insert(times.end(), {slice.begin, slice.end});
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    std::ranges::sort(slices, {}, &CutSlice::begin);
    std::vector<CutSlice> active;
    auto next = slices.begin();
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      const double begin = times[i], end = times[i + 1];
      std::erase_if(active, [&](const CutSlice& slice) { return slice.end <= begin; });
      for (; next != slices.end() && next->begin <= begin; ++next) {
        if (next->end > begin) active.push_back(*next);
      }
      const double hidden = computes == nullptr ? 0 : computes->filled(begin, end);
      for (const CutSlice& slice : active) {
        RangeSum& sum = sum_of(name, *slice.slice);
        sum.communication += (end - begin) / static_cast<double>(active.size());
        sum.exposed += (end - begin - hidden) / static_cast<double>(active.size());
      }
    }
  }

  RangeSum& add(const std::string& device, const CutSlice& slice) {
    RangeSum& sum = sum_of(device, *slice.slice);
    ++sum.tasks;
    return sum;
  }

  RangeSum& sum_of(const std::string& device, const Slice& slice) {
    const LaneLabel& label = recording_.labels[slice.label];
    const std::string key = key_of(device, slice, label);
    RangeSum& sum = sums_[key];
    sum.what = key;
    if (by_ == SumBy::layer) sum.layer = label.layer;
    return sum;
  }

  std::string key_of(const std::string& device, const Slice& slice, const LaneLabel& label) const {
    if (by_ == SumBy::device) return device;
    if (by_ == SumBy::layer) {
      return label.layer.valid() ? label.text.substr(0, label.text.find(' ')) : label.text;
    }
    const SliceStyle& style = recording_.styles[slice.style];
    const auto role = style.shade == Shade::task ? role_of(style.kind, style.phase) : std::nullopt;
    return role ? std::string(name(role->work)) : label.text;
  }

  const Recording& recording_;
  TimeRange range_;
  SumBy by_;
  std::map<std::string, RangeSum> sums_;
};

TableCell time_of(double seconds) {
  return {seconds > 0 ? human_seconds({seconds}) : QString(), seconds};
}

constexpr std::array<RangeSumTable::Spec, RangeSumTable::kColumns> kSumColumns = {{
    {"What", "", "what", false,
     [](auto& /*all*/, auto& sum) { return TableCell{QString::fromStdString(sum.what)}; }},
    {"Share", "Computing, of the time of all devices", "share", true,
     [](auto& all, auto& sum) {
       const double share = all > 0 ? sum.compute / all : 0;
       return TableCell{human_share(share), share};
     }},
    {"Computes", "On all devices together", "compute_seconds", true,
     [](auto& /*all*/, auto& sum) { return time_of(sum.compute); }},
    {"Communicates",
     "Transfers and synchronisation on all devices together; what a device does at once shares the "
     "time",
     "communication_seconds", true,
     [](auto& /*all*/, auto& sum) { return time_of(sum.communication); }},
    {"Uncovered", "Communication while the device computes nothing", "exposed_seconds", true,
     [](auto& /*all*/, auto& sum) { return time_of(sum.exposed); }},
    {"Tasks", "How many lie in the range, or in part", "tasks", true,
     [](auto& /*all*/, auto& sum) {
       return TableCell{QString::number(sum.tasks), static_cast<qlonglong>(sum.tasks)};
     }},
}};

}  // namespace

RangeSums sum_range(const Recording& recording, const TimeRange& range, SumBy by) {
  return RangeAdder(recording, range, by).run();
}

RangeSumTable::RangeSumTable(QObject* parent) : RowTable(kSumColumns, parent) {}

}  // namespace strata::gui
