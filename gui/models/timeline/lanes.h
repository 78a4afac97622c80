#pragma once

// What a timeline draws: slices of time in lanes, whatever they come from (a prediction, a
// measurement, a trace file). A Recording is one timeline; LaneRows are the lanes of one or two
// recordings in the order in which they stand on the screen. Times in seconds. A lane answers for
// any stretch of time, in the logarithm of its slices, which slice is the longest there and how
// much of it is filled: all that a column of pixels shows, however many slices it hides. Immutable
// once made; thread-safe to read.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/selection.h"
#include "sim/plan/plan.h"

namespace strata::gui {

/// Where a slice's colour comes from.
enum class Shade : std::uint8_t {
  task,      ///< what the task does: task_colour() of `kind` and `phase`
  category,  ///< category_colour of `value`
  balance,   ///< balance_colour of `value`
  unknown,   ///< grey
  level      ///< how high a curve stands: one colour, the height tells
};
struct SliceStyle {
  Shade shade = Shade::task;
  TaskKind kind = TaskKind::compute;
  Phase phase = Phase::forward;
  float value = 0;
  bool again = false;  ///< of a forward pass that is computed again
  bool odd = false;    ///< of every other round
  bool operator==(const SliceStyle&) const = default;
};

struct Slice {
  double begin = 0, end = 0;
  std::uint32_t label = 0;  ///< in Recording::labels
  std::uint32_t id = 0;     ///< of the task or event; a task may have slices in several lanes
  float height = 1;         ///< of the lane's, up to 1
  std::uint16_t style = 0;  ///< in Recording::styles
  std::uint16_t round = 0;  ///< from 1 on; 0: it is of no round, or of the only one
  double length() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

enum class LaneKind : std::uint8_t { path, device, stream, curve, residual };
/// The other lanes show of tasks what these do not: the slice of a task is one of these.
constexpr bool stands_for_tasks(LaneKind kind) {
  return kind == LaneKind::device || kind == LaneKind::stream;
}

struct LaneName {
  std::string group;  ///< "box0/gpu1"; lanes of one group are neighbours
  std::string name;   ///< "compute"
  LaneKind kind = LaneKind::stream;
  std::optional<DeviceId> device = {};
  std::optional<LinkId> link = {};
  std::string beside = {};  ///< the device, or the host, that a link belongs to
  std::string note = {};    ///< a line for people beneath the slices
  /// Above 0: it holds what overlaps slices of the lane before it, and needs no name of its own.
  std::uint32_t depth = 0;
  std::string stage = {};  ///< of the device: the heading of its stage, where there are several
  bool operator==(const LaneName&) const = default;
};

class Lane {
 public:
  /// Sorted by begin; none begins before the one before it ended.
  Lane(LaneName name, std::vector<Slice> slices);
  /// The same, and bubbles between them: when it waits for computation elsewhere.
  Lane(LaneName name, std::vector<Slice> slices, std::vector<Slice> bubbles);
  /// With the very slices of another.
  Lane(LaneName name, const Lane& other) : name_(std::move(name)), held_(other.held_) {}

  const LaneName& name() const { return name_; }
  std::span<const Slice> slices() const { return held_->slices; }
  /// Null where none are known.
  const Lane* bubbles() const { return held_->bubbles.get(); }
  /// Equal for lanes of one recording that hold the same at the same times, whatever their names.
  std::uint64_t signature() const { return held_->signature; }

  /// The first slice, from `from` on, that ends after `at`; the number of slices where none does.
  std::size_t ending_after(double at, std::size_t from = 0) const;
  /// The first slice, from `from` on, that begins at `at` or later.
  std::size_t beginning_at(double at, std::size_t from = 0) const;
  /// The longest of the slices [first, last), the earliest of equals; first < last.
  std::size_t longest(std::size_t first, std::size_t last) const;
  /// The sum of length times height of the slices [first, last).
  double area(std::size_t first, std::size_t last) const {
    return held_->area[last] - held_->area[first];
  }
  /// The same of all that lies between two times, parts of slices too.
  double filled(double begin, double end) const { return look(begin, end).filled; }

  /// What lies between two times, seen from afar.
  struct Look {
    std::size_t first = 0, last = 0;  ///< slices [first, last); none where they are equal
    double filled = 0;
  };
  /// `from`: as for ending_after().
  Look look(double begin, double end, std::size_t from = 0) const;

 private:
  struct Held {
    std::vector<Slice> slices;
    // Of the slices, side by side: what is asked for in every column of every frame.
    std::vector<double> begins, ends, lengths;
    std::vector<float> heights;          // empty where all are 1
    std::vector<double> area;            // of the slices before each, and of all
    std::vector<std::uint32_t> longest;  // a tree over the slices, its root at 1
    std::uint64_t signature = 0;
    std::shared_ptr<const Lane> bubbles;

    std::size_t longer(std::size_t a, std::size_t b) const;
  };
  double height(std::size_t slice) const {
    return held_->heights.empty() ? 1 : static_cast<double>(held_->heights[slice]);
  }

  static std::shared_ptr<Held> held(LaneKind kind, std::vector<Slice> slices);

  LaneName name_;
  std::shared_ptr<const Held> held_;
};

struct LaneLabel {
  std::string text;    ///< "conv1 forward"
  std::string search;  ///< that and more to be found by, in small letters
  LayerId layer;       ///< invalid where it belongs to none
};

/// What is known of a slice beside its place, asked for when somebody points at it.
class SliceFacts {
 public:
  virtual ~SliceFacts() = default;
  /// A line for each fact; the first is its name. Its times are moved by so many seconds, as it is
  /// drawn.
  virtual std::vector<std::string> lines(std::uint32_t id, double shift) const = 0;
  std::vector<std::string> lines(std::uint32_t id) const { return lines(id, 0); }
  virtual std::optional<double> ready(std::uint32_t /*id*/) const { return std::nullopt; }
  /// What had to end before it could begin, and what waits for it; only those that are drawn.
  virtual std::vector<std::uint32_t> before(std::uint32_t /*id*/) const { return {}; }
  virtual std::vector<std::uint32_t> after(std::uint32_t /*id*/) const { return {}; }
  virtual std::optional<PickedTask> task(std::uint32_t /*id*/) const { return std::nullopt; }
  virtual std::optional<std::uint32_t> find(const PickedTask& /*task*/) const {
    return std::nullopt;
  }
};

/// A slice of a recording; invalid where `lane` is kNowhere.
struct SlicePlace {
  static constexpr std::uint32_t kNowhere = 0xffffffff;
  std::uint32_t lane = kNowhere, index = 0;
  bool valid() const { return lane != kNowhere; }
  bool operator==(const SlicePlace&) const = default;
};

struct Recording {
  std::string name;
  std::vector<Lane> lanes;
  std::vector<LaneLabel> labels;
  std::vector<SliceStyle> styles;
  std::vector<SlicePlace> places;  ///< by id: of the slice that stands for it
  double end = 0;
  std::optional<TimeRange> steady;  ///< the steps that are measured by
  std::optional<TimeRange> step;    ///< the last of those: most others are like it
  std::optional<Seconds> forward;   ///< where that step's forward pass begins, if that is known
  std::shared_ptr<const SliceFacts> facts;

  const Slice& at(SlicePlace place) const { return lanes[place.lane].slices()[place.index]; }
  SlicePlace place(std::uint32_t id) const {
    return id < places.size() ? places[id] : SlicePlace();
  }
  std::size_t slice_count() const;
};
using RecordingPtr = std::shared_ptr<const Recording>;

/// Its label; of a link's curve, after the link's name.
std::string text_of(const Recording& recording, SlicePlace place);
/// Found by its text and by `more`, in any case.
LaneLabel make_label(const std::string& text, const std::string& more, LayerId layer);
/// The style's number among the recording's, where it is put if it is not there yet.
std::uint16_t style_number(Recording& recording, const SliceStyle& style);
std::string in_small_letters(std::string text);

/// Fills `places` from the lanes that stand for tasks, from the first of those that hold the same.
void index_places(Recording& recording);

/// The same slices in as many lanes as it takes for none to overlap another; at least one. Any
/// order in, each lane sorted.
std::vector<std::vector<Slice>> without_overlaps(std::vector<Slice> slices);

/// A line of the screen: a lane of one of the recordings shown, or none (SlicePlace::kNowhere) in
/// the heading of a group.
struct LaneRow {
  std::uint32_t side = 0, lane = 0;
  bool is_heading() const { return lane == SlicePlace::kNowhere; }
  bool operator==(const LaneRow&) const = default;
};

/// The lanes of the first, each with that of the same name of the second (if there is one) after
/// it; what only the second has stands at the end of its group, or of all.
std::vector<LaneRow> interleave(const Recording& first, const Recording* second);

/// By label: whether it has every word of `text`, in any case. Empty where `text` is.
std::vector<bool> labels_with(const Recording& recording, const std::string& text);

/// The next slice after `from` (or before it) in the order of time, then lane, whose label is
/// `wanted`; from the other end where there is none. In lanes that stand for tasks. Where `from` is
/// invalid, the first that begins within the time (backwards: the last). `lanes`: those that are
/// looked at; empty: all.
SlicePlace next_match(const Recording& recording, const std::vector<bool>& wanted, SlicePlace from,
                      const TimeRange& within, bool backwards = false,
                      const std::vector<bool>& lanes = {});

// The one time that recordings are drawn in: that of the first, with the other moved so that the
// forward pass of its steady step begins where the first's does, or else the step. Values; pure.

struct TimeFrame {
  std::optional<TimeRange> step;        ///< of the steady state: what is looked at first
  double begin = 0, end = 0;            ///< of all that is drawn
  std::optional<Seconds> forward = {};  ///< as Recording::forward

  /// What is added to a recording's times; 0 where either has no steady step.
  double shift_of(const Recording& recording) const;
};

/// `second` may be null. The step is the first's.
TimeFrame frame_of(const Recording& first, const Recording* second);
/// The same, where both are looked at alike: the step is as long as the longer one.
TimeFrame frame_of_both(const Recording& first, const Recording& second);

// A recording's slices as comma-separated values: "group,lane,name,begin_seconds,end_seconds".
// Pure.

/// Those that overlap the range, lane by lane; without curves.
std::string print_csv(const Recording& recording, const TimeRange& range);

}  // namespace strata::gui
