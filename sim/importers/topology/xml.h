#pragma once

// XML that others wrote, read with bounds: at most 64 MiB, elements at most 64 deep and of at most
// 64 attributes, no attribute twice. Entities that a file declares for itself are not expanded and
// nothing outside it is read, so a file that tries either is only text. An element knows its line.
// Elements must not outlive their XmlFile. Not thread-safe.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/diagnostics.h"

namespace pugi {
class xml_node;
struct xml_node_struct;
}  // namespace pugi

namespace strata {

class XmlFile;

class XmlElement {
 public:
  std::string_view name() const;
  std::vector<XmlElement> children() const;
  std::vector<XmlElement> children(std::string_view name) const;
  /// The text directly inside it.
  std::string_view content() const;

  bool has(const char* attribute) const;
  /// Throws InputError where it is missing.
  std::string text(const char* attribute) const;
  std::string text_or(const char* attribute, const std::string& otherwise) const;
  std::int64_t integer(const char* attribute, std::int64_t min, std::int64_t max) const;
  std::int64_t integer_or(const char* attribute, std::int64_t otherwise, std::int64_t min,
                          std::int64_t max) const;
  /// A finite number from `min` on.
  double number_or(const char* attribute, double otherwise, double min) const;

  Location where() const;
  /// "FILE:LINE: <gpu>: ..."
  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class XmlFile;
  XmlElement(pugi::xml_node_struct* node, const XmlFile* file) : node_(node), file_(file) {}
  pugi::xml_node node() const;

  pugi::xml_node_struct* node_;
  const XmlFile* file_;
};

class XmlFile {
 public:
  /// Throws InputError "FILE:LINE: ...".
  XmlFile(std::string_view text, const std::string& file);
  ~XmlFile();
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;

  XmlElement root() const;

 private:
  friend class XmlElement;
  struct Tree;
  Location at(std::ptrdiff_t offset) const;
  void check(const XmlElement& element, int depth) const;

  std::string file_;
  std::vector<std::ptrdiff_t> line_ends_;
  std::unique_ptr<Tree> tree_;
};

}  // namespace strata
