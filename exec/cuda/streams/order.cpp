#include "exec/cuda/streams/order.h"

#include <algorithm>

namespace strata::cuda {

void VectorClocks::join(std::uint32_t stream, const Clock& other) {
  Clock& clock = clocks_[stream];
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

Order::Order(std::span<Stream* const> streams)
    : streams_(streams.begin(), streams.end()), known_(streams.size()), marks_(streams.size()) {}

void Order::after(std::uint32_t stream, Ticket ticket) {
  if (knows(stream, ticket)) return;
  const Mark& mark = mark_of(ticket);
  streams_[stream]->wait(mark.event);
  known_.join(stream, mark.clock);
}

// The first one that is kept and not before the piece.
const Order::Mark& Order::mark_of(Ticket ticket) {
  const MarkRing& marks = marks_[ticket.stream];
  const auto number = [&marks](std::uint64_t k) { return marks.kept[k % kKept].number; };
  if (marks.made == 0 || number(marks.made - 1) < ticket.number) mark(ticket.stream);
  std::uint64_t low = marks.made - std::min(marks.made, kKept), high = marks.made - 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (number(middle) < ticket.number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  marks_missed_ += number(low) == ticket.number ? 0 : 1;
  return marks.kept[low % kKept];
}

void Order::gather(std::uint32_t stream) {
  for (std::uint32_t other = 0; other < streams_.size(); ++other) {
    if (other != stream && streams_[other] != nullptr) after(stream, mark(other));
  }
}

void Order::spread(std::uint32_t stream) {
  const Ticket all = mark(stream);
  for (std::uint32_t other = 0; other < streams_.size(); ++other) {
    if (other != stream && streams_[other] != nullptr) after(other, all);
  }
}

Ticket Order::mark(std::uint32_t stream) {
  const Ticket ticket = known_.put(stream);
  MarkRing& marks = marks_[stream];
  if (marks.made == marks.kept.size() && marks.made < kKept) {
    marks.kept.push_back({Event(streams_[stream]->gpu(), EventKind::order), 0, {}});
  }
  Mark& mark = marks.kept[marks.made++ % kKept];
  mark.event.record(*streams_[stream]);
  mark.number = ticket.number;
  mark.clock = known_[stream];
  return ticket;
}

}  // namespace strata::cuda
