#pragma once

// A dumb reader of markup: whether it is well-formed, as XML has it, and which elements it holds.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< directly within, entities as they are written

  double number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
};

/// Reads <!DOCTYPE ...>, elements, attributes in double quotes and the entities of XML; for no
/// comments, sections or processing instructions, which reports do not have.
class MarkupReader {
 public:
  explicit MarkupReader(std::string_view text) : text_(text) {
    if (text_.starts_with("<!DOCTYPE html>\n")) at_ = text_.find('\n') + 1;
    while (wrong.empty() && at_ < text_.size()) step();
    if (wrong.empty() && !open_.empty()) wrong = "unclosed " + elements[open_.back()].name;
  }

  std::string wrong;  ///< empty where it is well-formed
  std::vector<Element> elements;

  std::vector<Element> all(std::string_view name) const {
    std::vector<Element> found;
    for (const Element& element : elements) {
      if (element.name == name) found.push_back(element);
    }
    return found;
  }

 private:
  void step() {
    if (text_[at_] == '<')
      return at_ + 1 < text_.size() && text_[at_ + 1] == '/' ? close() : open();
    const std::string words = until("<");
    check_text(words);
    if (!open_.empty()) elements[open_.back()].text += words;
    if (open_.empty() && words.find_first_not_of('\n') != std::string::npos) wrong = "text outside";
  }

  std::string until(std::string_view ends) {
    const std::size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    const std::string part(text_.substr(at_, end - at_));
    at_ = end;
    return part;
  }

  void check_text(std::string_view words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto c = static_cast<unsigned char>(words[i]);
      if (words[i] == '<' || (c < 0x20 && c != '\n' && c != '\t')) wrong = "stray character";
      if (words[i] != '&') continue;
      bool known = false;
      for (std::string_view name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
        known = known || words.substr(i).starts_with(name);
      }
      if (!known) wrong = "stray &";
    }
  }

  void close() {
    at_ += 2;
    const std::string name = until(">");
    ++at_;
    if (open_.empty() || elements[open_.back()].name != name) {
      wrong = "</" + name + "> closes nothing";
    } else {
      open_.pop_back();
    }
  }

  void open() {
    ++at_;
    Element element{until(" />"), {}, {}};
    while (wrong.empty() && at_ < text_.size() && text_[at_] == ' ') attribute(element);
    const bool empty = text_.substr(at_).starts_with("/>");
    if (!empty && !text_.substr(at_).starts_with(">")) wrong = "<" + element.name + " does not end";
    at_ += empty ? 2 : 1;
    elements.push_back(element);
    if (!empty) open_.push_back(elements.size() - 1);
  }

  void attribute(Element& element) {
    ++at_;
    const std::string key = until("=");
    if (!text_.substr(at_).starts_with("=\"") || element.attributes.contains(key)) {
      wrong = "attribute " + key;
      return;
    }
    at_ += 2;
    const std::string value = until("\"");
    check_text(value);
    element.attributes[key] = value;
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
};

/// What every text of a user is tried with.
inline const std::string kHostile =
    "</title><script>alert(\"1\")</script> & 'x' | \xFF\x01 `*_[a](b)";
/// And how markup shows it.
inline const std::string kHostileMarkup =
    "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39; | "
    "\xEF\xBF\xBD\xEF\xBF\xBD `*_[a](b)";

}  // namespace strata
