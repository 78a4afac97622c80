// The document on the desk: saved and read back, what-ifs, and the command that says the same.

#include "gui/document/document.h"

#include <gmock/gmock.h>

#include "sim/base/error.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

TEST(Document, AsksWhatItSays) {
  Document document;
  document.input.model = "lenet5";
  document.strategy.source = "owt";
  document.simulation = {8, 1};
  document.search.gap = 0.1;
  document.locked = {"fc1"};
  PredictRequest asked = predict_request(document);
  EXPECT_EQ(asked.strategy, "owt");
  EXPECT_TRUE(asked.configs.empty());
  EXPECT_EQ(asked.steps, 8U);
  EXPECT_EQ(asked.jitter, 1U);
  const SolveRequest search = solve_request(document);
  EXPECT_EQ(search.search, document.search);
  EXPECT_TRUE(search.keep.empty());
  document.strategy.configs = {Config{}, Config{}};
  asked = predict_request(document);
  EXPECT_EQ(asked.strategy, "owt, edited");
  EXPECT_EQ(asked.configs, document.strategy.configs);
}

Document edited_document() {
  Document document;
  document.input.model = "lenet5";
  document.input.cluster = "p100-1x4";
  document.input.training.batch = 64;
  document.input.training.sync.algorithm = SyncAlgorithm::ps;
  document.input.training.sync.bucket = {1000};
  document.input.training.dtype = DType::bf16;
  document.input.profiles = {"my profile.toml"};
  document.input.sets = {{"link.*.bandwidth", "2x"}, {"overlap", "off"}};
  document.strategy = {"owt", {config_on_first_devices(kWhole), {kWhole, {DeviceId(3)}}}};
  document.locked = {"conv1"};
  document.strategy.found = "best";
  return document;
}

TEST(Document, ComesBackFromItsText) {
  const Document document = edited_document();
  EXPECT_EQ(parse_desk(print_desk({document}), "session.json").document, document);
  EXPECT_EQ(parse_desk(print_desk({Document()}), "session.json").document, Document());
}

TEST(Document, ComesBackWithTheBaselineThatWasChosen) {
  const SavedDesk compared{edited_document(), usual_document()},
      alone{edited_document(), Document()};
  EXPECT_EQ(parse_desk(print_desk(compared), "session.json"), compared);
  EXPECT_EQ(parse_desk(print_desk(alone), "session.json"), alone);
}

TEST(Document, RemembersThatItsNetworkMayHaveOpaqueOps) {
  Document document = edited_document();
  document.input.model = "net.onnx";
  EXPECT_THAT(case_arguments(document), Not(HasSubstr("--allow-unsupported")));
  document.input.unsupported = Unsupported::opaque;
  EXPECT_THAT(case_arguments(document), HasSubstr(" --allow-unsupported"));
  EXPECT_EQ(parse_desk(print_desk({document}), "session.json").document, document);
  EXPECT_FALSE(document == edited_document());
}

TEST(Document, RemembersTheDimsThatItsNetworkLeavesOpen) {
  Document document = edited_document();
  document.input.model = "net.onnx";
  document.input.dims = {{"height", 32}, {"width", 48}};
  EXPECT_THAT(case_arguments(document), HasSubstr(" --dim height=32,width=48"));
  EXPECT_EQ(parse_desk(print_desk({document}), "session.json").document, document);
  EXPECT_EQ(document.with_model("other.onnx").input.dims, OpenDims());
}

TEST(Document, AStrategysFileIsOfItsNetwork) {
  Document document = usual_document();
  document.strategy.source = "mine.json";
  EXPECT_EQ(document.with_model("alexnet").strategy, StrategyChoice());
  document.strategy.source = "owt";
  EXPECT_EQ(document.with_model("alexnet").strategy.source, "owt");
}

TEST(Document, SaysWhatIfsInWords) {
  EXPECT_EQ(what_if_text("device.first:1.speed", "0.5x"), "speed of the first device 0.5x");
  EXPECT_EQ(what_if_text("device.first:3.speed", "0.5x"), "speed of the first 3 devices 0.5x");
  EXPECT_EQ(what_if_text("link.*.latency", "2x"), "latency of all links 2x");
}

TEST(Document, RefusesWhatIsNoSession) {
  const auto parse = [](const char* text) { return [text] { parse_desk(text, "s.json"); }; };
  EXPECT_THAT(parse("{"), ThrowsMessage<InputError>(HasSubstr("s.json:1: an object or a list")));
  EXPECT_THAT(parse("{}"),
              ThrowsMessage<InputError>(HasSubstr("s.json:1: this is no saved session")));
  EXPECT_THAT(parse(R"({"strata_document": 99})"),
              ThrowsMessage<InputError>(HasSubstr("s.json:1: the session is of another version")));
}

// What is wrong with one key of an edited document, which print_desk() writes a key a line.
TEST(Document, NamesTheLineOfWhatIsWrong) {
  const std::string good = print_desk({edited_document()});
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    try {
      parse_desk(text, "s.json");
      return std::string("no error");
    } catch (const InputError& wrong) {
      return wrong.message();
    }
  };
  EXPECT_EQ(error("\"lenet5\"", "5"), "s.json:4: 'model' must be a string; it is 5");
  EXPECT_EQ(error("\"ps\"", "\"rings\""),
            "s.json:8: unknown sync \"rings\"; allowed: ps, ring, tree, hierarchical, auto");
  EXPECT_EQ(error("\"overlap\",", ""),
            "s.json:26: 'sets[1]' must be a key and its value; it is a list");
  EXPECT_EQ(error("\"degrees\": [\n        1,", "\"degrees\": ["),
            "s.json:35: 'degrees' must be a list of 5 integers; it is a list");
}

TEST(Document, TakesNullForAbsent) {
  std::string text = print_desk({Document()});
  const Document without = parse_desk(text, "s.json").document;
  text.insert(text.find("\"batch_per_device\""), R"("batch": null, "allow_unsupported": null, )");
  text.insert(text.find("\"input\""), R"("configs": null, "found": null, )");
  EXPECT_EQ(parse_desk(text, "s.json").document, without);
}

TEST(Document, HasOneValueForAWhatIf) {
  Document document;
  document = document.with_what_if("overlap", "off").with_what_if("link.*.latency", "2x");
  document = document.with_what_if("overlap", "on");
  EXPECT_EQ(document.input.sets, (WhatIfs{{"overlap", "on"}, {"link.*.latency", "2x"}}));
  EXPECT_EQ(document.with_what_if("overlap", "").input.sets, (WhatIfs{{"link.*.latency", "2x"}}));
  EXPECT_EQ(document.what_if("overlap"), "on");
  EXPECT_EQ(document.what_if("link.*.bandwidth"), "");
}

TEST(Document, LeavesACutByHandBehindWithItsCluster) {
  Document document = edited_document();
  EXPECT_EQ(document.with_cluster("p100-1x4"), document);
  EXPECT_EQ(document.with_cluster("p100-2x4").input.cluster, "p100-2x4");
  EXPECT_EQ(document.with_cluster("p100-2x4").strategy, StrategyChoice());
  document.strategy = {"owt"};
  EXPECT_EQ(document.with_cluster("p100-2x4").strategy.source, "owt");
}

// Those of links and devices are of a machine, and those of layers of a network.
TEST(Document, LeavesWhatIfsBehindWithWhatTheyAreOf) {
  Document document = edited_document();
  document.input.sets = {{"link.inter.bandwidth", "6.25 GB/s"},
                         {"device.first:1.speed", "0.5x"},
                         {"layer.conv1.speed", "2x"},
                         {"overlap", "off"}};
  EXPECT_EQ(document.with_cluster("p100-2x4").input.sets, document.input.sets) << "a larger one";
  EXPECT_EQ(document.with_cluster("h200-4x8").input.sets,
            (WhatIfs{{"layer.conv1.speed", "2x"}, {"overlap", "off"}}));
  EXPECT_EQ(document.with_model("vgg16").input.sets, (WhatIfs{{"link.inter.bandwidth", "6.25 GB/s"},
                                                              {"device.first:1.speed", "0.5x"},
                                                              {"overlap", "off"}}));
}

TEST(Document, KnowsItsSizesBeforeAWhatIfTurnedThem) {
  const Document document = edited_document();
  Document turned = document.resized("p100-2x4").resized("p100-4x4").with_batch(128).with_batch(32);
  EXPECT_EQ(turned.base_cluster, "p100-1x4");
  EXPECT_EQ(turned.base_batch, 64);
  EXPECT_EQ(parse_desk(print_desk({turned}), "session.json").document, turned);
  turned.strategy = document.strategy;
  EXPECT_EQ(turned.without_what_ifs().input.cluster, "p100-1x4");
  EXPECT_EQ(turned.without_what_ifs().input.training.batch, 64);
  EXPECT_EQ(turned.resized("p100-1x4").base_cluster, "") << "it is as it was";
  EXPECT_EQ(turned.with_cluster("p100-8x4").without_what_ifs().input.cluster, "p100-8x4")
      << "what was typed is no what-if";
}

// Cases that differ by a what-if are not called alike.
TEST(Document, IsCalledByItsWhatIfsToo) {
  Document document = edited_document();
  EXPECT_EQ(document.name(), "lenet5 on p100-1x4, bandwidth of all links 2x, no overlap");
  document.input.sets = {{"device.first:1.speed", "0.5x"}};
  EXPECT_EQ(document.name(), "lenet5 on p100-1x4, speed of the first device 0.5x");
}

TEST(Document, SaysThatWhatASearchFoundWasEdited) {
  StrategyChoice choice = edited_document().strategy;
  EXPECT_EQ(choice.label(), "best");
  choice.touched = true;
  EXPECT_EQ(choice.label(), "best, edited");
  choice.found.clear();
  EXPECT_EQ(choice.label(), "owt, edited");
}

TEST(Document, TellsTheCommandThatSaysTheSame) {
  Document document = edited_document();
  EXPECT_EQ(
      case_arguments(document) + strategy_argument(document),
      "lenet5 --cluster p100-1x4 --batch 64 --sync ps --bucket 1000 --dtype bf16 --profile 'my "
      "profile.toml' --set 'link.*.bandwidth=2x' --set overlap=off --strategy "
      "strategy.json");
  document.strategy.configs.clear();
  EXPECT_EQ(strategy_argument(document), " --strategy owt");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

// Cuts that a search found are the best of the case that it was of.
TEST(Document, KnowsThatItsCutsWereFoundOnAnotherCase) {
  Document found = usual_document();
  found.strategy.source = "optimal";
  found.strategy.found = "optimal";
  found.strategy.configs = {config_on_first_devices(kWhole)};
  EXPECT_EQ(found.strategy.label(), "optimal");
  const Document faster = edited(found.with_what_if("link.*.bandwidth", "2x"), found);
  EXPECT_EQ(faster.strategy.label(), "optimal of another case");
  EXPECT_EQ(parse_desk(print_desk({faster}), "a.json").document, faster);
  const Document slower = edited(faster.with_what_if("device.*.speed", "0.5"), faster);
  EXPECT_EQ(slower.strategy.label(), "optimal of another case");
  EXPECT_EQ(edited(slower.without_what_ifs(), slower), found) << "it is that case again";
  Document chosen = faster;
  chosen.strategy = {"optimal"};
  EXPECT_EQ(edited(chosen, faster).strategy, StrategyChoice{"optimal"});
}

}  // namespace
}  // namespace strata::gui
