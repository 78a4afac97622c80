#pragma once

// A mutator that knows what XML is made of, so that most of what it makes is read as XML again. It
// copies elements to other places, takes them out and renames them, and changes, adds and drops
// attributes. Of texts that are no XML it makes none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include "tests/fuzz/random_choice.h"

namespace strata {

/// What a format knows: elements, attributes, and values of attributes. None is empty.
struct XmlVocabulary {
  std::span<const char*const> elements, attributes, values;
};

class XmlMutator {
 public:
  XmlMutator(std::string_view text, std::uint32_t seed, const XmlVocabulary& vocabulary)
      : random_(seed), vocabulary_(vocabulary) {
    is_xml_ = static_cast<bool>(document_.load_buffer(text.data(), text.size()));
  }

  bool is_xml() const { return is_xml_ && document_.document_element(); }

  std::string mutated() {
    for (std::uint32_t left = 1 + random_.below(3); left > 0; --left) {
      random_.one_in(2) ? change_element(any_element()) : change_attribute(any_element());
    }
    Writer writer;
    document_.document_element().print(writer, "", pugi::format_raw);
    return std::move(writer.text);
  }

 private:
  struct Writer : pugi::xml_writer {
    void write(const void* data, std::size_t size) override {
      text.append(static_cast<const char*>(data), size);
    }
    std::string text;
  };

  void gather(pugi::xml_node node, std::vector<pugi::xml_node>& all) const {
    all.push_back(node);
    for (pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) gather(child, all);
    }
  }

  pugi::xml_node any_element() {
    std::vector<pugi::xml_node> all;
    gather(document_.document_element(), all);
    return random_.any_of(all);
  }

  void change_element(pugi::xml_node element) {
    switch (random_.below(6)) {
      case 0:
        element.set_name(random_.any_of(vocabulary_.elements));
        return;
      case 1:
        any_element().append_child(random_.any_of(vocabulary_.elements));
        return;
      case 2:
        if (element != document_.document_element()) element.parent().remove_child(element);
        return;
      case 3:
        return change_content(element);
      default:
        copy(element);
    }
  }

  void copy(pugi::xml_node element) {
    const pugi::xml_node to = any_element();
    pugi::xml_node(to).append_copy(element);
  }

  void change_content(pugi::xml_node element) {
    if (element.first_child().type() == pugi::node_element) return copy(element);
    std::string text = element.child_value();
    text += ' ';
    text += value();
    element.text().set(random_.one_in(2) ? text.c_str() : value());
  }

  void change_attribute(pugi::xml_node element) {
    std::vector<pugi::xml_attribute> all(element.attributes_begin(), element.attributes_end());
    if (all.empty() || random_.one_in(5)) return add_attribute(element);
    pugi::xml_attribute attribute = random_.any_of(all);
    if (random_.one_in(6)) {
      element.remove_attribute(attribute);
    } else {
      attribute.set_value(random_.one_in(3) ? value_elsewhere(attribute).c_str() : value());
    }
  }

  void add_attribute(pugi::xml_node element) {
    const char* name = random_.any_of(vocabulary_.attributes);
    if (!element.attribute(name)) element.append_attribute(name).set_value(value());
  }

  // The value of an attribute of this name in another element.
  std::string value_elsewhere(pugi::xml_attribute attribute) {
    return any_element().attribute(attribute.name()).value();
  }

  const char* value() {
    return random_.one_in(2) ? random_.any_of(vocabulary_.values) : random_.any_of(kValues);
  }

  static constexpr std::array<const char*, 16> kValues = {
      "",    "0",   "1",     "2",          "-1",   "0x1",   "1.5",   "1e308",
      "nan", "inf", "65536", "2147483648", "1e-9", "65 GB", "&amp;", "9223372036854775807"};

  pugi::xml_document document_;
  RandomChoice random_;
  const XmlVocabulary& vocabulary_;
  bool is_xml_ = false;
};

}  // namespace strata
