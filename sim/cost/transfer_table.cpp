#include "sim/cost/transfer_table.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace strata {
namespace {

constexpr std::size_t kLanes = LaneLayout::kLanes;
/// Factors of one tile of groups: they should stay in a core's second-level cache.
constexpr std::size_t kTileBytes = std::size_t{640} << 10;

// Elements of the box that stand in run [begin, end) of the producer's row-major order.
double run_overlap(const Extents& producer, const Box& box, double begin, double end) {
  return static_cast<double>(elements_below(producer, box, static_cast<std::int64_t>(end)) -
                             elements_below(producer, box, static_cast<std::int64_t>(begin)));
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
      layout_(size_, span, groups),
      padded_(layout_.padded()),
      rows_(size_ * size_ + size_) {
  const EdgeAxes axes(graph, consumer, input, producer_cuts, consumer_cuts);
  scale_ = element_bytes * axes.scale();
  axes_.reserve(axes.axes().size());
  for (const EdgeAxis& axis : axes.axes()) {
    AxisSides& sides = axes_.emplace_back(axes, axis, producer_cuts, consumer_cuts, layout_);
    sides.first_key = keys_;
    keys_ += sides.producer.keys.size();
  }
  order_choices();
  write_program();
  choose_width();
}

// Choices that agree in the first axes stand together: they share those axes' products. Columns
// likewise, with the last axis changing fastest, so that factors of the first are filled seldom.
void TransferTable::order_choices() {
  const auto order = [&](std::size_t count, const auto& key) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), 0u);
    std::sort(result.begin(), result.end(), [&](std::uint32_t a, std::uint32_t b) {
      for (const AxisSides& data : axes_) {
        if (key(data, a) != key(data, b)) return key(data, a) < key(data, b);
      }
      return a < b;
    });
    return result;
  };
  const auto producer = [](const AxisSides& data, std::uint32_t i) {
    return data.producer.key_of[i];
  };
  column_order_ = order(consumer_cuts_.size(), [](const AxisSides& data, std::uint32_t i) {
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
      for (std::uint32_t group : groups_) divisors.push_back(maximum.bandwidth[group]);
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
    for (const AxisSides& data : axes_) {
      const AxisSide& side = data.consumer;
      const std::size_t from = side.key_of[column] * lanes + t * padded_ + first;
      for (std::size_t g = 0; g < width; ++g) {
        begin[static_cast<std::ptrdiff_t>(g)] *= side.size[from + g];
      }
    }
  }
}

// What the parts of a lane need of `owned`, halos counted apiece.
double TransferTable::overlap(const std::vector<Interval>& needs, const Interval& owned,
                              const Interval& parts) {
  std::int64_t sum = 0;
  for (std::int64_t j = parts.begin; j < parts.end; ++j) {
    sum += intersect(owned, needs[static_cast<std::size_t>(j)]).size();
  }
  return static_cast<double>(sum);
}

void TransferTable::fill_plain(const AxisSides& data, std::size_t key, std::uint32_t consumer_key,
                               std::size_t first, std::size_t width, double* out) const {
  const std::size_t lanes = size_ * padded_;
  const double factor = &data == &axes_.back() ? scale_ : 1;
  const AxisSide &own = data.producer, &need = data.consumer;
  const std::uint32_t p = own.degree_of[key], q = need.degree_of[consumer_key];
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
        row[g] = factor * overlap(data.needs[q], owned, need.parts[to + g]);
      }
    }
  }
  const std::vector<double>& before = data.read_before[p * data.needs.size() + q];
  for (std::size_t s = 0; s < size_; ++s) {
    const Interval* parts = &own.parts[key * lanes + s * padded_ + first];
    double* row = out + (size_ * size_ + s) * width;
    for (std::size_t g = 0; g < width; ++g) {
      row[g] = factor * (before[static_cast<std::size_t>(parts[g].end)] -
                         before[static_cast<std::size_t>(parts[g].begin)]);
    }
  }
}

void TransferTable::fill_joint(const AxisSides& data, std::size_t key, std::uint32_t consumer_key,
                               std::size_t first, std::size_t width, double* out) const {
  const std::size_t lanes = size_ * padded_;
  for (std::size_t s = 0; s < size_; ++s) {
    for (std::size_t g = 0; g < width; ++g) {
      const Box& box = data.boxes[key * lanes + s * padded_ + first + g];
      for (std::size_t t = 0; t < size_; ++t) {
        const std::size_t to = consumer_key * lanes + t * padded_ + first + g;
        out[(s * size_ + t) * width + g] =
            run_overlap(data.axis.producer, box, data.consumer.begin[to], data.consumer.end[to]);
      }
      out[(size_ * size_ + s) * width + g] = static_cast<double>(volume(box));
    }
  }
}

void TransferTable::fill_factors(const AxisSides& data, std::uint32_t consumer_key,
                                 std::size_t first, std::size_t width, double* out) const {
  for (std::size_t key = 0; key < data.producer.keys.size(); ++key, out += rows_ * width_) {
    if (data.axis.joint) {
      fill_joint(data, key, consumer_key, first, width, out);
    } else {
      fill_plain(data, key, consumer_key, first, width, out);
    }
  }
}

const double* TransferTable::factors(std::size_t level, std::uint32_t choice,
                                     const Scratch& scratch) const {
  const AxisSides& data = axes_[level];
  return &scratch.factors[(data.first_key + data.producer.key_of[choice]) * rows_ * width_];
}

// Of all axes but the last, which is multiplied where the maxima are taken.
const double* TransferTable::product(const Step& step, std::size_t width, Scratch& scratch) const {
  if (axes_.size() == 1) return scratch.ones.data();
  const double* product = factors(0, step.choice, scratch);
  for (std::size_t level = 1; level + 1 < axes_.size(); ++level) {
    double* out = &scratch.products[level * rows_ * width_];
    if (level >= step.level) {
      kernel_.multiply(out, product, factors(level, step.choice, scratch), rows_ * width);
    }
    product = out;
  }
  return product;
}

// All producer choices against the column whose factors are filled, over one tile of groups.
void TransferTable::fill_column(std::size_t first, std::size_t width, Scratch& scratch,
                                double* largest) const {
  const TransferTile tile{&scratch.needed[first], padded_, first, width};
  for (const Step& step : steps_) {
    kernel_.maxima(program_, product(step, width, scratch),
                   factors(axes_.size() - 1, step.choice, scratch), tile, scratch.rows.data(),
                   largest + step.choice * divisors_.size());
  }
}

void TransferTable::prepare(Scratch& scratch) const {
  const std::size_t block = rows_ * width_;
  scratch.factors.resize(keys_ * block);
  scratch.products.resize(axes_.size() * block);
  scratch.rows.resize(kLanes * (program_.rows() + program_.maxima + size_));
  scratch.ones.assign(axes_.size() == 1 ? block : 0, 1);
}

void TransferTable::fill(std::size_t begin, std::size_t end, Scratch& scratch,
                         double* seconds) const {
  prepare(scratch);
  if (groups_.size() == 1 && span_ == 1) return fill_batches(begin, end, scratch, seconds);
  const std::size_t choices = producer_cuts_.size(), results = choices * divisors_.size();
  scratch.largest.assign((end - begin) * results, 0);
  for (std::size_t first = 0; first < padded_; first += width_) {
    const std::size_t width = std::min(width_, padded_ - first);
    scratch.filled.assign(axes_.size(), ~0u);
    for (std::size_t at = begin; at < end; ++at) {
      const std::uint32_t column = column_order_[at];
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        const std::uint32_t key = axes_[a].consumer.key_of[column];
        if (scratch.filled[a] == key) continue;
        fill_factors(axes_[a], key, first, width,
                     &scratch.factors[axes_[a].first_key * rows_ * width_]);
        scratch.filled[a] = key;
      }
      fill_needed(column, first, width, scratch.needed);
      fill_column(first, width, scratch, scratch.largest.data() + (at - begin) * results);
    }
  }
  for (std::size_t at = begin; at < end; ++at) {
    for (std::size_t choice = 0; choice < choices; ++choice) {
      double& entry = seconds[choice * consumer_cuts_.size() + column_order_[at]];
      const std::size_t first = (at - begin) * results + choice * divisors_.size();
      entry = std::max(entry, seconds_of(scratch.largest.data() + first, 1));
    }
  }
}

// A single group leaves the lanes to eight columns at a time.
void TransferTable::fill_batches(std::size_t begin, std::size_t end, Scratch& scratch,
                                 double* seconds) const {
  scratch.largest.resize(kLanes * divisors_.size());
  scratch.begin.resize(size_ * kLanes);
  scratch.end.resize(size_ * kLanes);
  for (std::size_t first = begin; first < end; first += kLanes) {
    std::array<std::uint32_t, kLanes> columns;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      columns[lane] = column_order_[std::min(first + lane, end - 1)];
    }
    scratch.needed.assign(size_ * kLanes, scale_);
    for (const AxisSides& data : axes_) fill_batch_factors(data, columns.data(), scratch);
    const TransferTile tile{scratch.needed.data(), kLanes, 0, kLanes};
    for (const Step& step : steps_) {
      kernel_.maxima_by_lane(program_, product(step, kLanes, scratch),
                             factors(axes_.size() - 1, step.choice, scratch), tile,
                             scratch.rows.data(), scratch.largest.data());
      double* row = seconds + step.choice * consumer_cuts_.size();
      for (std::size_t lane = 0; lane < std::min(kLanes, end - first); ++lane) {
        double& entry = row[columns[lane]];
        entry = std::max(entry, seconds_of(scratch.largest.data() + lane, kLanes));
      }
    }
  }
}

void TransferTable::fill_batch_factors(const AxisSides& data, const std::uint32_t* columns,
                                       Scratch& scratch) const {
  const std::size_t lanes = size_ * padded_;
  const double factor = &data == &axes_.back() ? scale_ : 1;
  const AxisSide &own = data.producer, &need = data.consumer;
  for (std::size_t at = 0; at < lanes; ++at) {
    const std::size_t from = need.key_of[columns[at % kLanes]] * lanes + at;
    scratch.begin[at] = need.begin[from];
    scratch.end[at] = need.end[from];
    scratch.needed[at] *= need.size[from];
  }
  for (std::size_t key = 0; key < own.keys.size(); ++key) {
    double* out = &scratch.factors[(data.first_key + key) * rows_ * kLanes];
    double* const read = out + size_ * size_ * kLanes;
    if (data.axis.joint) {
      for (std::size_t at = 0; at < lanes; ++at) {
        const Box& box = data.boxes[key * lanes + at];
        const std::size_t s = at / kLanes, lane = at % kLanes;
        for (std::size_t t = 0; t < size_; ++t) {
          out[(s * size_ + t) * kLanes + lane] =
              run_overlap(data.axis.producer, box, scratch.begin[t * kLanes + lane],
                          scratch.end[t * kLanes + lane]);
        }
        read[at] = static_cast<double>(volume(box));
      }
      continue;
    }
    for (std::size_t s = 0; s < size_; ++s) {
      const std::size_t from = key * lanes + s * kLanes;
      for (std::size_t t = 0; t < size_; ++t) {
        kernel_.overlap(out + (s * size_ + t) * kLanes, &own.begin[from], &own.end[from],
                        &scratch.begin[t * kLanes], &scratch.end[t * kLanes], factor, kLanes);
      }
    }
    const std::size_t p = own.degree_of[key] * data.needs.size();
    for (std::size_t at = 0; at < lanes; ++at) {
      const std::uint32_t q = need.degree_of[need.key_of[columns[at % kLanes]]];
      const Interval& parts = own.parts[key * lanes + at];
      const std::vector<double>& before = data.read_before[p + q];
      read[at] = factor * (before[static_cast<std::size_t>(parts.end)] -
                           before[static_cast<std::size_t>(parts.begin)]);
    }
  }
}

double TransferTable::seconds_of(const double* largest, std::size_t stride) const {
  const auto time = [&](const GroupNetwork::Direction& direction) {
    double slowest = 0, latency = 0;
    for (const auto& use : direction.bandwidths) {
      slowest = std::max(slowest, largest[use.maximum * stride] / use.value);
    }
    for (const auto& use : direction.latencies) {
      if (largest[use.maximum * stride] > 0) latency = std::max(latency, use.value);
    }
    return latency + slowest;
  };
  const double there = time(network_.forward());
  return returns_ ? there + time(network_.backward()) : there;
}

}  // namespace strata
