#include "sim/text/json.h"

#include <gtest/gtest.h>

#include "tests/sim/text/said.h"

namespace strata {
namespace {

Document read_json(std::string_view text) {
  return parse_json(text, "a.json");
}

std::string json_error(std::string_view text) {
  return said([&] { read_json(text); });
}

TEST(Json, ReadsEveryKindOfValueWithItsLine) {
  const Document document = read_json(R"({
  "name": "a\u00e9\n",
  "count": -3, "big": 9007199254740993, "whole": 2.0, "real": 1e-3, "huge": 1e300,
  "on": false,
  "list": [
    1,
    {"x": "y"}
  ]
})");
  Table root = document.table();
  EXPECT_EQ(root.string("name"), "a\u00e9\n");
  EXPECT_EQ(root.integer("count"), -3);
  EXPECT_EQ(root.integer("big"), 9007199254740993);
  EXPECT_EQ(root.integer("whole"), 2);
  EXPECT_EQ(root.number("real"), 1e-3);
  EXPECT_EQ(root.number("huge"), 1e300);
  EXPECT_FALSE(root.boolean("on"));
  const auto list = root.required("list").as_list();
  EXPECT_EQ(list[0].location(), (Location{"a.json", 6}));
  EXPECT_EQ(list[1].location(), (Location{"a.json", 7}));
  EXPECT_EQ(list[1].as_table().string("x"), "y");
  root.finish();
}

TEST(Json, AScalarOrAnEmptyListMayBeTheWholeDocument) {
  EXPECT_EQ(read_json("3").root().as_integer(), 3);
  EXPECT_EQ(read_json(" \"x\" ").root().as_string(), "x");
  EXPECT_TRUE(read_json("[]").root().as_list().empty());
  EXPECT_TRUE(read_json("null").root().is(ValueKind::null));
  EXPECT_EQ(said([] { read_json("[]").table(); }),
            "a.json:1: the document must be an object; it is a list");
}

TEST(Json, SaysWhatAValueMustBe) {
  const Document document = read_json("{\"degrees\": [],\n\"n\": {}, \"x\": 1.5,\n\"y\": 1}");
  Table root = document.table();
  EXPECT_EQ(said([&] { root.table("degrees"); }),
            "a.json:1: 'degrees' must be an object; it is a list");
  EXPECT_EQ(said([&] { root.integer("n"); }), "a.json:2: 'n' must be an integer; it is an object");
  EXPECT_EQ(said([&] { root.integer("x"); }), "a.json:2: 'x' must be an integer; it is 1.5");
  EXPECT_EQ(said([&] { root.finish(); }), "a.json:3: unknown key 'y'; allowed: degrees, n, x");
}

TEST(Json, TakesNullForAbsent) {
  const Document document = read_json("{\"a\": null,\n\"b\": {\"c\": null, \"d\": [null]}}");
  Table root = document.table();
  EXPECT_FALSE(root.has("a"));
  EXPECT_EQ(root.integer_or("a", 7), 7);
  EXPECT_EQ(said([&] { root.required("a"); }), "a.json:1: missing key 'a'");
  Table b = root.table("b");
  EXPECT_EQ(b.members().size(), 1u);
  EXPECT_EQ(said([&] { b.integers("d"); }), "a.json:2: 'd[0]' must be an integer; it is null");
  root.finish();
}

TEST(Json, RefusesAKeyThatComesTwice) {
  EXPECT_EQ(json_error("{\"a\": null,\n\"a\": 3}"), "a.json:2: key 'a' comes twice in one object");
  EXPECT_EQ(json_error("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}"),
            "a.json:3: key 'a' comes twice in one object");
}

TEST(Json, RefusesBadSyntaxWithItsLine) {
  const std::string syntax =
      "bad JSON: a value, a comma, a colon or a bracket is missing or misplaced";
  EXPECT_EQ(json_error(""), "a.json:1: the document is empty");
  EXPECT_EQ(json_error("{\"a\": 1,\n\"b\" 2}"), "a.json:2: " + syntax);
  EXPECT_EQ(json_error("[1,\n2 3]"), "a.json:2: " + syntax);
  EXPECT_EQ(json_error("[1,\n]"), "a.json:2: " + syntax);
  EXPECT_EQ(json_error("[1,\n2"), "a.json:1: an object or a list has no end");
  EXPECT_EQ(json_error("{\"a\":\n\"b}"), "a.json:2: a string has no closing quote");
  EXPECT_EQ(json_error("[1,\n1.2.3]"), "a.json:2: a number is malformed or too large");
  EXPECT_EQ(json_error("[1,\n1e999]"), "a.json:2: a number is malformed or too large");
  EXPECT_EQ(json_error("[nan]"), "a.json:1: " + syntax);
  EXPECT_EQ(json_error("[nule]"), "a.json:1: " + syntax);
  EXPECT_EQ(json_error("[\"\\x\"]"), "a.json:1: a string has a bad escape");
  EXPECT_EQ(json_error("[1]\n[2]"), "a.json:2: there is text after the end of the document");
  EXPECT_EQ(json_error("1 2"), "a.json:1: " + syntax);
  EXPECT_EQ(json_error("[1,\n\"\xff\"]"), "a.json:2: the text is not valid UTF-8");
}

TEST(Json, RefusesDeepNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(json_error(nested(64)), "");
  EXPECT_EQ(json_error(nested(65)), "a.json:1: values are nested more than 64 deep");
  EXPECT_EQ(json_error(nested(100'000)), "a.json:1: values are nested more than 64 deep");
}

}  // namespace
}  // namespace strata
