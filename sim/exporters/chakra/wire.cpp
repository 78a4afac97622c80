#include "sim/exporters/chakra/wire.h"

#include <bit>

namespace strata {
namespace {

constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kDelimited = 2;

// Seven bits a byte, the lowest first; the eighth says that more follow.
void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
}

}  // namespace

void WireMessage::key(std::uint32_t field, std::uint32_t type) {
  append_varint(bytes_, field << 3 | type);
}

WireMessage& WireMessage::number(std::uint32_t field, std::uint64_t value) {
  key(field, kVarint);
  append_varint(bytes_, value);
  return *this;
}

WireMessage& WireMessage::real(std::uint32_t field, double value) {
  key(field, kFixed64);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  return *this;
}

WireMessage& WireMessage::text(std::uint32_t field, std::string_view value) {
  key(field, kDelimited);
  append_varint(bytes_, value.size());
  bytes_ += value;
  return *this;
}

WireMessage& WireMessage::message(std::uint32_t field, const WireMessage& value) {
  return text(field, value.bytes_);
}

WireMessage& WireMessage::numbers(std::uint32_t field, std::span<const std::uint64_t> values) {
  if (values.empty()) return *this;
  std::string packed;
  for (const std::uint64_t value : values) append_varint(packed, value);
  return text(field, packed);
}

std::string WireMessage::delimited() const {
  std::string all;
  append_varint(all, bytes_.size());
  return all + bytes_;
}

}  // namespace strata
