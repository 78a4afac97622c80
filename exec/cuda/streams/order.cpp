#include "exec/cuda/streams/order.h"

#include <algorithm>

namespace strata::cuda {

Order::Order(std::span<Stream* const> streams)
    : streams_(streams.begin(), streams.end()),
      clocks_(streams.size(), std::vector<std::uint64_t>(streams.size())),
      marks_(streams.size()) {}

// A mark that gave its place to a later one of its stream is waited for with that one.
void Order::after(std::uint32_t stream, Ticket ticket) {
  if (knows(stream, ticket)) return;
  const Mark& mark = marks_[ticket.stream][ticket.number % kKept];
  streams_[stream]->wait(mark.event);
  std::vector<std::uint64_t>& clock = clocks_[stream];
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], mark.clock[i]);
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
  const std::uint64_t number = ++clocks_[stream][stream];
  std::vector<Mark>& marks = marks_[stream];
  while (marks.size() <= std::min(number, kKept - 1)) {
    marks.push_back({Event(streams_[stream]->gpu(), EventKind::order), {}});
  }
  Mark& mark = marks[number % kKept];
  mark.event.record(*streams_[stream]);
  mark.clock = clocks_[stream];
  return {stream, number};
}

}  // namespace strata::cuda
