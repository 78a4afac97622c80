#pragma once

// The wire format of protocol buffers, as far as execution traces need it: a message is a run of
// fields, each a key (number and wire type) and a value. Every field that is put is written, zeros
// too.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace strata {

class WireMessage {
 public:
  WireMessage& number(std::uint32_t field, std::uint64_t value);
  WireMessage& real(std::uint32_t field, double value);
  WireMessage& text(std::uint32_t field, std::string_view value);
  WireMessage& message(std::uint32_t field, const WireMessage& value);
  /// A packed list; nothing where there are none.
  WireMessage& numbers(std::uint32_t field, std::span<const std::uint64_t> values);

  const std::string& bytes() const { return bytes_; }
  /// Its length, then its bytes: as messages follow one another in a file.
  std::string delimited() const;

 private:
  void key(std::uint32_t field, std::uint32_t type);

  std::string bytes_;
};

}  // namespace strata
