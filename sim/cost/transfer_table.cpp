#include "sim/cost/transfer_table.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strata {
namespace {

constexpr std::size_t kLanes = 8;  // rows are whole multiples of it (transfer_kernel.h)
/// Factors of one tile of groups: they should stay in a core's second-level cache.
constexpr std::size_t kTileBytes = std::size_t{640} << 10;

constexpr std::size_t kNoDevice = std::numeric_limits<std::size_t>::max();

std::size_t rounded_up(std::size_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

// Numbers the distinct digits of the cuts, in ascending order.
template <class DigitsOf>
void number_keys(const Cuts& cuts, const DigitsOf& digits_of, std::vector<Digits>& keys,
                 std::vector<std::uint32_t>& key_of) {
  std::map<Digits, std::uint32_t> numbers;
  std::vector<std::map<Digits, std::uint32_t>::iterator> at;
  at.reserve(cuts.size());
  for (const Cut& cut : cuts) at.push_back(numbers.try_emplace(digits_of(cut), 0).first);
  for (auto& [digits, number] : numbers) {
    number = static_cast<std::uint32_t>(keys.size());
    keys.push_back(digits);
  }
  for (const auto& it : at) key_of.push_back(it->second);
}

}  // namespace

TransferTable::TransferTable(const GroupNetwork& network, const std::vector<std::uint32_t>& groups,
                             std::size_t span, const Graph& graph, LayerId consumer,
                             std::size_t input, const Cuts& producer_cuts,
                             const Cuts& consumer_cuts, double element_bytes, bool returns)
    : network_(network),
      groups_(groups),
      kernel_(transfer_kernel()),
      producer_cuts_(producer_cuts),
      consumer_cuts_(consumer_cuts),
      returns_(returns),
      size_(network.group_size()),
      span_(span),
      padded_(rounded_up(groups.size())),
      rows_(size_ * size_ + size_) {
  const EdgeAxes axes(graph, consumer, input, producer_cuts, consumer_cuts);
  scale_ = element_bytes * axes.scale();
  axes_.reserve(axes.axes().size());
  for (const Axis& axis : axes.axes()) add_axis(axes, axis);
  order_choices();
  write_program();
  choose_width();
}

void TransferTable::add_axis(const EdgeAxes& axes, const Axis& axis) {
  AxisData& data = axes_.emplace_back();
  data.axis = axis;
  number_keys(
      producer_cuts_, [&](const Cut& cut) { return axes.producer_digits(axis, cut); },
      data.producer.keys, data.producer.key_of);
  number_keys(
      consumer_cuts_, [&](const Cut& cut) { return axes.consumer_digits(axis, cut); },
      data.consumer.keys, data.consumer.key_of);
  data.first_key = keys_;
  keys_ += data.producer.keys.size();
  place_consumer(data, axes);
  if (axis.joint) return place_joint(data);
  place_producer(data);
  sum_readings(data);
}

// Lanes hold the first of all groups, then the second of all groups ...
std::size_t TransferTable::device_at(std::size_t lane) const {
  const std::size_t number = lane / padded_, group = lane % padded_;
  return group < groups_.size() ? (groups_[group] * size_ + number) * span_ : kNoDevice;
}

// Of a lane of several devices the parts are a run of numbers: degrees, strides and the span are
// powers of two.
Interval TransferTable::parts_held(const Digit& digit, std::size_t lane) const {
  const std::size_t first = device_at(lane);
  Interval held;
  for (std::size_t device = first; first != kNoDevice && device < first + span_; ++device) {
    const std::int64_t i = digit.at(static_cast<std::int64_t>(device));
    if (i >= digit.degree) continue;  // it holds nothing
    held = held.empty() ? Interval{i, i + 1}
                        : Interval{std::min(held.begin, i), std::max(held.end, i + 1)};
  }
  return held;
}

void TransferTable::place_producer(AxisData& data) const {
  Side& side = data.producer;
  const std::size_t lanes = size_ * padded_;
  side.begin.assign(side.keys.size() * lanes, 0);
  side.end.assign(side.keys.size() * lanes, 0);
  side.parts.assign(side.keys.size() * lanes, {});
  for (std::size_t at = 0; at < side.parts.size(); ++at) {
    const Digit& digit = side.keys[at / lanes].front();
    const Interval parts = parts_held(digit, at % lanes);
    if (parts.empty()) continue;
    side.parts[at] = parts;
    side.begin[at] = static_cast<double>(part(data.axis.extent, digit.degree, parts.begin).begin);
    side.end[at] = static_cast<double>(part(data.axis.extent, digit.degree, parts.end - 1).end);
  }
}

void TransferTable::place_consumer(AxisData& data, const EdgeAxes& axes) const {
  Side& side = data.consumer;
  const std::size_t lanes = size_ * padded_;
  for (AlignedVector<double>* of : {&side.begin, &side.end, &side.size}) {
    of->assign(side.keys.size() * lanes, 0);
  }
  side.parts.assign(side.keys.size() * lanes, {});
  for (std::size_t at = 0; at < side.parts.size(); ++at) {
    const Digit& digit = side.keys[at / lanes].front();
    std::vector<Interval>& needs = data.needs[digit.degree];
    for (std::int64_t j = std::ssize(needs); j < digit.degree; ++j) {
      needs.push_back(data.axis.joint ? part(data.axis.extent, digit.degree, j)
                                      : axes.needed(data.axis, digit.degree, j));
    }
    Interval hull;
    side.parts[at] = parts_held(digit, at % lanes);
    for (std::int64_t j = side.parts[at].begin; j < side.parts[at].end; ++j) {
      const Interval& need = needs[static_cast<std::size_t>(j)];
      side.size[at] += static_cast<double>(need.size());
      if (need.empty()) continue;
      hull = hull.empty()
                 ? need
                 : Interval{std::min(hull.begin, need.begin), std::max(hull.end, need.end)};
    }
    side.begin[at] = static_cast<double>(hull.begin);
    side.end[at] = static_cast<double>(hull.end);
  }
}

void TransferTable::place_joint(AxisData& data) const {
  const std::vector<Digits>& keys = data.producer.keys;
  const std::size_t lanes = size_ * padded_;
  data.boxes.assign(keys.size() * lanes, Box{});
  for (std::size_t at = 0; at < data.boxes.size(); ++at) {
    Box box{};
    bool holds = true;
    std::size_t k = 0;
    for (Dim dim : {Dim::c, Dim::d, Dim::h, Dim::w}) {
      const Digit& digit = keys[at / lanes][k++];
      const Interval parts = parts_held(digit, at % lanes);
      holds = holds && !parts.empty();
      if (!holds) break;
      box[dim] = {part(data.axis.producer[dim], digit.degree, parts.begin).begin,
                  part(data.axis.producer[dim], digit.degree, parts.end - 1).end};
    }
    box[Dim::n] = {0, 1};
    if (holds) data.boxes[at] = box;
  }
}

void TransferTable::sum_readings(AxisData& data) const {
  for (const Digits& producer : data.producer.keys) {
    const std::int32_t p = producer.front().degree;
    for (const auto& [q, needs] : data.needs) {
      auto& before = data.read_before[{p, q}];
      if (!before.empty()) continue;
      before.assign(static_cast<std::size_t>(p) + 1, 0);
      for (const Interval& need : needs) {
        const Interval touched = parts_touching(data.axis.extent, p, need);
        for (std::int64_t i = touched.begin; i < touched.end; ++i) {
          const Interval shared = intersect(part(data.axis.extent, p, i), need);
          before[static_cast<std::size_t>(i) + 1] += static_cast<double>(shared.size());
        }
      }
      std::partial_sum(before.begin(), before.end(), before.begin());
    }
  }
}

// Choices that agree in the first axes stand together: they share those axes' products. Columns
// likewise, with the last axis changing fastest, so that factors of the first are filled seldom.
void TransferTable::order_choices() {
  const auto order = [&](std::size_t count, const auto& key) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), 0u);
    std::sort(result.begin(), result.end(), [&](std::uint32_t a, std::uint32_t b) {
      for (const AxisData& data : axes_) {
        if (key(data, a) != key(data, b)) return key(data, a) < key(data, b);
      }
      return a < b;
    });
    return result;
  };
  const auto producer = [](const AxisData& data, std::uint32_t i) {
    return data.producer.key_of[i];
  };
  column_order_ = order(consumer_cuts_.size(), [](const AxisData& data, std::uint32_t i) {
    return data.consumer.key_of[i];
  });
  std::uint32_t before = 0;
  for (std::uint32_t choice : order(producer_cuts_.size(), producer)) {
    std::uint32_t level = 0;
    while (!steps_.empty() && level + 1 < axes_.size() &&
           producer(axes_[level], choice) == producer(axes_[level], before)) {
      ++level;
    }
    steps_.push_back({choice, level});
    before = choice;
  }
}

void TransferTable::write_program() {
  program_.group_size = size_;
  program_.maxima = network_.maxima().size();
  const auto write = [&](std::size_t count) {
    program_.code.push_back(static_cast<std::uint32_t>(count));
  };
  for (const GroupNetwork::Maximum& maximum : network_.maxima()) {
    const auto& sums = maximum.sums;
    const auto single = [](const GroupNetwork::Sum& sum) { return sum.size() == 1; };
    const auto singles = static_cast<std::size_t>(std::count_if(sums.begin(), sums.end(), single));
    write(singles);
    for (const auto& sum : sums) {
      if (single(sum)) write(sum.front());
    }
    write(sums.size() - singles);
    for (const auto& sum : sums) {
      if (single(sum)) continue;
      write(sum.size());
      for (GroupNetwork::Row row : sum) write(row);
    }
    AlignedVector<double>& divisors = divisors_.emplace_back();
    if (!maximum.bandwidth.empty()) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        divisors.push_back(maximum.bandwidth[groups_[g]]);
      }
      divisors.resize(padded_, 1);
    }
  }
  for (const auto& divisors : divisors_) {
    program_.divisors.push_back(divisors.empty() ? nullptr : divisors.data());
  }
}

void TransferTable::choose_width() {
  const std::size_t fitting = kTileBytes / (keys_ * rows_ * sizeof(double)) / kLanes * kLanes;
  width_ = std::clamp(fitting, kLanes, padded_);
}

// What each device reads of anybody, itself included, in bytes.
void TransferTable::fill_needed(std::uint32_t column, std::size_t first, std::size_t width,
                                AlignedVector<double>& needed) const {
  const std::size_t lanes = size_ * padded_;
  needed.resize(lanes);
  for (std::size_t t = 0; t < size_; ++t) {
    const auto begin = needed.begin() + static_cast<std::ptrdiff_t>(t * padded_ + first);
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(width), scale_);
    for (const AxisData& data : axes_) {
      const Side& side = data.consumer;
      const std::size_t from = side.key_of[column] * lanes + t * padded_ + first;
      for (std::size_t g = 0; g < width; ++g) {
        begin[static_cast<std::ptrdiff_t>(g)] *= side.size[from + g];
      }
    }
  }
}

// What the parts of a lane need of `owned`, halos counted apiece.
double TransferTable::overlap(const AxisData& data, const Interval& owned, const Digit& consumer,
                              const Interval& parts) const {
  const std::vector<Interval>& needs = data.needs.at(consumer.degree);
  std::int64_t sum = 0;
  for (std::int64_t j = parts.begin; j < parts.end; ++j) {
    sum += intersect(owned, needs[static_cast<std::size_t>(j)]).size();
  }
  return static_cast<double>(sum);
}

void TransferTable::fill_plain(const AxisData& data, std::size_t key, std::uint32_t consumer_key,
                               std::size_t first, std::size_t width, double* out) const {
  const std::size_t lanes = size_ * padded_;
  const double factor = &data == &axes_.back() ? scale_ : 1;
  const Side &own = data.producer, &need = data.consumer;
  const Digit &producer = own.keys[key].front(), &consumer = need.keys[consumer_key].front();
  for (std::size_t s = 0; s < size_; ++s) {
    const std::size_t from = key * lanes + s * padded_ + first;
    for (std::size_t t = 0; t < size_; ++t) {
      const std::size_t to = consumer_key * lanes + t * padded_ + first;
      double* row = out + (s * size_ + t) * width;
      kernel_.overlap(row, &own.begin[from], &own.end[from], &need.begin[to], &need.end[to], factor,
                      width);
      for (std::size_t g = 0; span_ > 1 && g < width; ++g) {
        if (need.size[to + g] == need.end[to + g] - need.begin[to + g]) continue;
        const Interval owned{static_cast<std::int64_t>(own.begin[from + g]),
                             static_cast<std::int64_t>(own.end[from + g])};
        row[g] = factor * overlap(data, owned, consumer, need.parts[to + g]);
      }
    }
  }
  const auto& before = data.read_before.at({producer.degree, consumer.degree});
  for (std::size_t s = 0; s < size_; ++s) {
    const Interval* parts = &own.parts[key * lanes + s * padded_ + first];
    double* row = out + (size_ * size_ + s) * width;
    for (std::size_t g = 0; g < width; ++g) {
      row[g] = factor * (before[static_cast<std::size_t>(parts[g].end)] -
                         before[static_cast<std::size_t>(parts[g].begin)]);
    }
  }
}

void TransferTable::fill_joint(const AxisData& data, std::size_t key, std::uint32_t consumer_key,
                               std::size_t first, std::size_t width, double* out) const {
  const std::size_t lanes = size_ * padded_;
  const auto below = [&](const Box& box, double end) {
    return elements_below(data.axis.producer, box, static_cast<std::int64_t>(end));
  };
  for (std::size_t s = 0; s < size_; ++s) {
    for (std::size_t g = 0; g < width; ++g) {
      const Box& box = data.boxes[key * lanes + s * padded_ + first + g];
      for (std::size_t t = 0; t < size_; ++t) {
        const std::size_t to = consumer_key * lanes + t * padded_ + first + g;
        out[(s * size_ + t) * width + g] = static_cast<double>(below(box, data.consumer.end[to]) -
                                                               below(box, data.consumer.begin[to]));
      }
      out[(size_ * size_ + s) * width + g] = static_cast<double>(volume(box));
    }
  }
}

void TransferTable::fill_factors(const AxisData& data, std::uint32_t consumer_key,
                                 std::size_t first, std::size_t width, double* out) const {
  for (std::size_t key = 0; key < data.producer.keys.size(); ++key, out += rows_ * width_) {
    if (data.axis.joint) {
      fill_joint(data, key, consumer_key, first, width, out);
    } else {
      fill_plain(data, key, consumer_key, first, width, out);
    }
  }
}

// All producer choices against the column whose factors are filled, over one tile of groups. The
// last axis is multiplied where the maxima are taken.
void TransferTable::fill_column(std::size_t first, std::size_t width, Scratch& scratch,
                                double* largest) const {
  const std::size_t block = rows_ * width_, last = axes_.size() - 1;
  const auto factors = [&](std::size_t level, std::uint32_t choice) -> const double* {
    const AxisData& data = axes_[level];
    return &scratch.factors[(data.first_key + data.producer.key_of[choice]) * block];
  };
  const TransferTile tile{&scratch.needed[first], padded_, first, width};
  for (const Step& step : steps_) {
    const double* product = last > 0 ? factors(0, step.choice) : scratch.ones.data();
    for (std::size_t level = 1; level < last; ++level) {
      double* out = &scratch.products[level * block];
      if (level >= step.level) {
        kernel_.multiply(out, product, factors(level, step.choice), rows_ * width);
      }
      product = out;
    }
    kernel_.maxima(program_, product, factors(last, step.choice), tile, scratch.rows.data(),
                   largest + step.choice * divisors_.size());
  }
}

void TransferTable::fill(std::size_t begin, std::size_t end, Scratch& scratch,
                         double* seconds) const {
  const std::size_t block = rows_ * width_, choices = producer_cuts_.size();
  const std::size_t results = choices * divisors_.size();
  scratch.factors.resize(keys_ * block);
  scratch.products.resize(axes_.size() * block);
  scratch.rows.resize(kLanes * (program_.rows() + program_.maxima + size_));
  scratch.ones.assign(axes_.size() == 1 ? block : 0, 1);
  scratch.largest.assign((end - begin) * results, 0);
  for (std::size_t first = 0; first < padded_; first += width_) {
    const std::size_t width = std::min(width_, padded_ - first);
    scratch.filled.assign(axes_.size(), ~0u);
    for (std::size_t at = begin; at < end; ++at) {
      const std::uint32_t column = column_order_[at];
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        const std::uint32_t key = axes_[a].consumer.key_of[column];
        if (scratch.filled[a] == key) continue;
        fill_factors(axes_[a], key, first, width, &scratch.factors[axes_[a].first_key * block]);
        scratch.filled[a] = key;
      }
      fill_needed(column, first, width, scratch.needed);
      fill_column(first, width, scratch, &scratch.largest[(at - begin) * results]);
    }
  }
  for (std::size_t at = begin; at < end; ++at) {
    for (std::size_t choice = 0; choice < choices; ++choice) {
      double& entry = seconds[choice * consumer_cuts_.size() + column_order_[at]];
      entry = std::max(
          entry, seconds_of(&scratch.largest[(at - begin) * results + choice * divisors_.size()]));
    }
  }
}

double TransferTable::seconds_of(const double* largest) const {
  const auto time = [&](const GroupNetwork::Direction& direction) {
    double slowest = 0, latency = 0;
    for (const auto& use : direction.bandwidths) {
      slowest = std::max(slowest, largest[use.maximum] / use.value);
    }
    for (const auto& use : direction.latencies) {
      if (largest[use.maximum] > 0) latency = std::max(latency, use.value);
    }
    return latency + slowest;
  };
  const double there = time(network_.forward());
  return returns_ ? there + time(network_.backward()) : there;
}

}  // namespace strata
