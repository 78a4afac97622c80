#include "sim/text/toml.h"

#include <gtest/gtest.h>

#include "tests/sim/text/said.h"

namespace strata {
namespace {

Document read_toml(std::string_view text) {
  return parse_toml(text, "a.toml");
}

std::string toml_error(std::string_view text) {
  return said([&] { read_toml(text); });
}

TEST(Toml, ReadsEveryKindOfValue) {
  const Document document = read_toml(R"(
name = "net"
size = 3
rate = 0.5
on = true
list = [1, [2, 3]]
words = ["a", "b"]
sub = { x = 1 }
[[layer]]
op = "relu"
[[layer]]
op = "add"
)");
  Table root = document.table();
  EXPECT_EQ(root.string("name"), "net");
  EXPECT_EQ(root.integer("size", 1, 3), 3);
  EXPECT_EQ(root.number("size"), 3.0);
  EXPECT_EQ(root.number("rate"), 0.5);
  EXPECT_TRUE(root.boolean("on"));
  EXPECT_EQ(root.integer_or("none", 7), 7);
  EXPECT_EQ(root.string_or("none", "x"), "x");
  EXPECT_EQ(root.strings("words"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(root.table("sub").integer("x"), 1);
  EXPECT_FALSE(root.optional_table("none"));
  const std::vector<Value> list = root.required("list").as_list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].as_integer(), 1);
  EXPECT_EQ(list[1].as_integers(), (std::vector<std::int64_t>{2, 3}));
  std::vector<Table> layers = root.tables("layer");
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[1].string("op"), "add");
  EXPECT_EQ(layers[1].location(), (Location{"a.toml", 11}));
  EXPECT_EQ(layers[1].location("op"), (Location{"a.toml", 12}));
  root.finish();
}

TEST(Toml, KeepsMembersInTheOrderOfTheFile) {
  const Document document = read_toml("z = 1\na = 2\n[m]\nq = 1\nb = 2\n");
  std::string keys;
  for (const auto& [key, value] : document.table().members()) keys += key;
  for (const auto& [key, value] : document.table().table("m").members()) keys += key;
  EXPECT_EQ(keys, "zamqb");
}

TEST(Toml, SaysWhatAValueMustBe) {
  const Document document =
      read_toml("s = \"x\"\ni = 5\nl = [1, \"x\"]\nt = {}\nf = 1.5\nd = 1979-05-27");
  Table root = document.table();
  const auto complaint = [&](auto read) { return said([&] { read(root); }); };
  EXPECT_EQ(complaint([](Table& t) { t.integer("s"); }),
            "a.toml:1: 's' must be an integer; it is \"x\"");
  EXPECT_EQ(complaint([](Table& t) { t.integer("i", 1, 4); }),
            "a.toml:2: 'i' must be an integer from 1 to 4; it is 5");
  EXPECT_EQ(complaint([](Table& t) { t.integer("i", 6); }),
            "a.toml:2: 'i' must be an integer of at least 6; it is 5");
  EXPECT_EQ(complaint([](Table& t) { t.integer("f"); }),
            "a.toml:5: 'f' must be an integer; it is 1.5");
  EXPECT_EQ(complaint([](Table& t) { t.number("f", 0, 1); }),
            "a.toml:5: 'f' must be a number from 0 to 1; it is 1.5");
  EXPECT_EQ(complaint([](Table& t) { t.integers("l"); }),
            "a.toml:3: 'l[1]' must be an integer; it is \"x\"");
  EXPECT_EQ(complaint([](Table& t) { t.string("t"); }),
            "a.toml:4: 't' must be a string; it is a table");
  EXPECT_EQ(complaint([](Table& t) { t.boolean("d"); }),
            "a.toml:6: 'd' must be true or false; it is a date");
  EXPECT_EQ(complaint([](Table& t) { t.tables("t"); }),
            "a.toml:4: 't' must be a list of tables; it is a table");
  EXPECT_EQ(complaint([](Table& t) { t.string("name"); }), "a.toml:1: missing key 'name'");
}

TEST(Toml, NamesKeysThatNobodyAskedFor) {
  const Document document = read_toml("name = \"x\"\nnmae = \"y\"\n\nz = 1\n");
  Table root = document.table();
  root.string("name");
  root.integer_or("size", 1);
  EXPECT_EQ(said([&] { root.finish(); }),
            "a.toml:2: unknown key 'nmae'; allowed: name, size\n"
            "a.toml:4: unknown key 'z'; allowed: name, size");
}

TEST(Toml, RefusesBadSyntaxWithItsLine) {
  EXPECT_EQ(toml_error("a = 1\nb = \n"),
            "a.toml:2: Error while parsing key-value pair: expected value, saw '\\n'");
  EXPECT_EQ(toml_error("a = 1\na = 2\n"),
            "a.toml:2: Error while parsing key-value pair: cannot redefine existing integer 'a'");
  EXPECT_EQ(toml_error("x = 1\na = nan"), "a.toml:2: nan and inf are not allowed");
  EXPECT_EQ(toml_error("a = [1, -inf]"), "a.toml:1: nan and inf are not allowed");
  EXPECT_NE(toml_error("a = \"\xff\""), "");
}

TEST(Toml, RefusesWhatWouldExhaustTheStack) {
  std::string key = "a";
  for (int i = 1; i < 16; ++i) key += ".a";
  EXPECT_EQ(toml_error(key + " = 1"), "");
  EXPECT_EQ(toml_error("\n" + key + ".a = 1"), "a.toml:2: a key has more than 16 parts");
  EXPECT_EQ(toml_error("[" + key + " . \"b\"]"), "a.toml:1: a key has more than 16 parts");
  EXPECT_EQ(toml_error("s = \"" + std::string(40, '.') + "\""), "");
  EXPECT_NE(toml_error("a = " + std::string(100'000, '[')), "");
}

// What looks like the end of a text before a long key, and like a long key in a text or a comment.
TEST(Toml, TellsKeysFromTextsAndComments) {
  std::string key = "b";
  for (int i = 0; i < 50'000; ++i) key += ".b";
  const std::string refused = "a.toml:1: a key has more than 16 parts";
  EXPECT_EQ(toml_error("x = {a = \"\\\"\", " + key + " = 1}"), refused);
  EXPECT_EQ(toml_error("x = {a = \"\\\\\", " + key + " = 1}"), refused);
  EXPECT_EQ(toml_error("x = {a = '\\', " + key + " = 1}"), refused);
  EXPECT_EQ(toml_error("x = {a = \"\"\"\"\"\"\"\", " + key + " = 1}"), refused);
  EXPECT_EQ(toml_error("x = {a = '''#''', " + key + " = 1}"), refused);
  EXPECT_EQ(toml_error("x = {a = \"\", " + key + " = 1}"), refused);
  EXPECT_EQ(toml_error("a = \"\"\"\n\\\"\"\"\"\n" + key + " = 1"),
            "a.toml:3: a key has more than 16 parts");
  EXPECT_EQ(toml_error("# it's " + key + "\n" + key + " = 1"),
            "a.toml:2: a key has more than 16 parts");

  EXPECT_EQ(toml_error("# " + key + "\nx = 1 # 0.1 0.2 " + key), "");
  EXPECT_EQ(toml_error("x = \"\"\"\n'" + key + "\n\"\\\"\"\"\" # " + key), "");
  EXPECT_EQ(toml_error("x = '''\n\"" + key + "\\'''"), "");
  EXPECT_EQ(toml_error("x = \"\\\"" + key + "\"\ny = '" + key + "'"), "");
}

TEST(Toml, QuotesWhatItCanReadBack) {
  for (const char* text : {"plain", "a\"b\\c", "\n\t\x01\x7f", "größe", ""}) {
    EXPECT_EQ(read_toml("s = " + toml_quoted(text)).table().string("s"), text);
  }
}

}  // namespace
}  // namespace strata
