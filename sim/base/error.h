#pragma once

// The one hierarchy of errors. An Error is a message and the context it passed on its way up
// ("scenario x.toml:12: layer conv1: ..."); its class decides the exit code of the commands.
// What may well happen in a correct run (nothing fits in memory) is a result, not an Error.

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace strata {

class Error : public std::runtime_error {
 public:
  explicit Error(std::string message) : std::runtime_error(message), message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const { return message_; }

  /// The exit code of a command that ends with this error (INTERFACE.md, "Conduct").
  virtual int exit_code() const = 0;

  /// Puts `where` before the message: "where: message".
  void add_context(std::string_view where) { message_ = std::string(where) + ": " + message_; }

 private:
  std::string message_;
};

/// The user's input is wrong: a file, a flag, a name. Exit code 2.
class InputError : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 2; }
};

/// A device, a library or the file system is missing or not able. Exit code 3.
class EnvironmentError : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 3; }
};

/// A training that went wrong: numbers that are no longer finite. Exit code 1.
class RunFailed : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 1; }
};

/// Strata broke one of its own promises where an assert would come too late. Exit code 1.
class InternalError : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 1; }
};

}  // namespace strata
