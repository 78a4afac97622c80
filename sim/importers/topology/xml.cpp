#include "sim/importers/topology/xml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

namespace strata {
namespace {

constexpr std::size_t kSizeLimit = std::size_t{64} << 20;
constexpr int kDepthLimit = 64, kAttributeLimit = 64;

std::int64_t parse_integer(const XmlElement& element, const char* attribute, std::int64_t min,
                           std::int64_t max) {
  const std::string text = element.text(attribute);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= min && value <= max) return value;
  element.fail(
      fmt::format("{}=\"{}\" is no whole number from {} to {}", attribute, text, min, max));
}

}  // namespace

struct XmlFile::Tree {
  pugi::xml_document document;
};

XmlFile::XmlFile(std::string_view text, const std::string& file)
    : file_(file), tree_(std::make_unique<Tree>()) {
  if (text.size() > kSizeLimit) {
    strata::fail({file, 0}, fmt::format("it is larger than {} bytes", kSizeLimit));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_ends_.push_back(static_cast<std::ptrdiff_t>(i));
  }
  const pugi::xml_parse_result result = tree_->document.load_buffer(
      text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) strata::fail(at(result.offset), fmt::format("bad XML: {}", result.description()));
  const pugi::xml_node root = tree_->document.document_element();
  for (pugi::xml_node next = root.next_sibling(); next; next = next.next_sibling()) {
    strata::fail(at(next.offset_debug()), "bad XML: more than one element at the top");
  }
  check(XmlFile::root(), 1);
}

XmlFile::~XmlFile() = default;

XmlElement XmlFile::root() const {
  return {tree_->document.document_element().internal_object(), this};
}

Location XmlFile::at(std::ptrdiff_t offset) const {
  const auto line = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  return {file_, 1 + static_cast<int>(line - line_ends_.begin())};
}

void XmlFile::check(const XmlElement& element, int depth) const {
  if (depth > kDepthLimit) element.fail(fmt::format("elements stand {} deep at most", kDepthLimit));
  std::vector<std::string_view> names;
  for (const pugi::xml_attribute attribute : element.node().attributes()) {
    names.emplace_back(attribute.name());
    if (names.size() > kAttributeLimit) {
      element.fail(fmt::format("an element has at most {} attributes", kAttributeLimit));
    }
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) element.fail(fmt::format("attribute '{}' is there twice", *twice));
  for (const XmlElement& child : element.children()) check(child, depth + 1);
}

pugi::xml_node XmlElement::node() const {
  return pugi::xml_node(node_);
}

std::string_view XmlElement::name() const {
  return node().name();
}

std::vector<XmlElement> XmlElement::children() const {
  std::vector<XmlElement> all;
  for (const pugi::xml_node child : node().children()) {
    if (child.type() == pugi::node_element) {
      all.push_back(XmlElement(child.internal_object(), file_));
    }
  }
  return all;
}

std::vector<XmlElement> XmlElement::children(std::string_view name) const {
  std::vector<XmlElement> all = children();
  std::erase_if(all, [&](const XmlElement& child) { return child.name() != name; });
  return all;
}

std::string_view XmlElement::content() const {
  return node().child_value();
}

bool XmlElement::has(const char* attribute) const {
  return !node().attribute(attribute).empty();
}

std::string XmlElement::text(const char* attribute) const {
  if (!has(attribute)) fail(fmt::format("attribute '{}' is missing", attribute));
  return node().attribute(attribute).value();
}

std::string XmlElement::text_or(const char* attribute, const std::string& otherwise) const {
  return has(attribute) ? text(attribute) : otherwise;
}

std::int64_t XmlElement::integer(const char* attribute, std::int64_t min, std::int64_t max) const {
  return parse_integer(*this, attribute, min, max);
}

std::int64_t XmlElement::integer_or(const char* attribute, std::int64_t otherwise, std::int64_t min,
                                    std::int64_t max) const {
  return has(attribute) ? parse_integer(*this, attribute, min, max) : otherwise;
}

double XmlElement::number_or(const char* attribute, double otherwise, double min) const {
  if (!has(attribute)) return otherwise;
  const std::string written = text(attribute);
  double value = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  const bool whole = error == std::errc() && end == written.data() + written.size();
  if (whole && std::isfinite(value) && value >= min) return value;
  fail(fmt::format("{}=\"{}\" is no number from {} on", attribute, written, min));
}

Location XmlElement::where() const {
  return file_->at(node().offset_debug());
}

void XmlElement::fail(std::string_view what) const {
  strata::fail(where(), fmt::format("<{}>: {}", name(), what));
}

}  // namespace strata
