// The manual's view of a command line, on a small one that has all that one can have: commands
// within commands, groups, hidden options, arguments that repeat.

#include "cli/manual/manual.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands/commands.h"
#include "cli/manual/no_runner.h"
#include "sim/base/error.h"
#include "sim/text/split.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct SmallProgram {
  CLI::App app{"cuts networks", "strata"};
  std::string text, secret, out;
  std::vector<std::string> files;
  int count = 0;
  bool quick = false;

  SmallProgram() {
    CLI::App* import = app.add_subcommand("import", "read what others write");
    CLI::App* topology = import->add_subcommand("topology", "a machine's links\nin two lines");
    topology->add_option("FILE", files, "what it's in")->required();
    topology->add_option("-o,--output", out, "a .toml file")->required();
    topology->add_option("--secret", secret, "for us")->group("");
    topology->add_option("--count", count, "how many [or all]");
    topology->add_option_group("Speed")->add_flag("--quick", quick, "hurry");
  }
};

TEST(Manual, HasCommandsWithinCommandsEachBeforeThoseBelowIt) {
  const SmallProgram program;
  const std::vector<CommandFacts> commands = commands_of(program.app);
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].path, "strata");
  EXPECT_THAT(commands[0].commands, ElementsAre("import"));
  EXPECT_EQ(commands[1].path, "strata import");
  EXPECT_THAT(commands[1].commands, ElementsAre("topology"));
  EXPECT_EQ(commands[2].path, "strata import topology");
  EXPECT_THAT(commands[2].commands, IsEmpty());
}

TEST(Manual, HasEveryOptionThatIsNotHiddenAndThoseOfGroups) {
  const SmallProgram program;
  const CommandFacts topology = commands_of(program.app)[2];
  std::vector<std::string> names;
  for (const OptionFacts& option : topology.options) names.push_back(option.names.back());
  EXPECT_THAT(names, ElementsAre("--help", "--output", "--count", "--quick"));
  EXPECT_TRUE(topology.options[1].required);
  EXPECT_FALSE(topology.options[1].flag);
  EXPECT_EQ(topology.options[2].value.placeholder, "N");
  EXPECT_TRUE(topology.options[3].flag);
  ASSERT_EQ(topology.arguments.size(), 1u);
  EXPECT_TRUE(topology.arguments[0].repeatable);
}

TEST(Manual, PagesAreNamedAndReferredToByTheWholeCommand) {
  const SmallProgram program;
  const auto pages = man_pages(commands_of(program.app), {"1.2.3", "2026-11-22"});
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[2].name, "strata-import-topology");
  EXPECT_THAT(pages[1].text, HasSubstr("\\fBstrata\\-import\\-topology\\fR(1)"));
  EXPECT_THAT(pages[2].text,
              HasSubstr("\\fBstrata import topology\\fR \\fIFILE\\fR... \\fB\\-\\-output\\fR "
                        "\\fIFILE\\fR [\\fIOPTION\\fR...]"));
  EXPECT_THAT(pages[2].text, HasSubstr("\\- a machine's links\n"));
  EXPECT_THAT(pages[2].text, Not(HasSubstr("secret")));
}

TEST(Manual, ShellsCompleteCommandsWithinCommands) {
  const SmallProgram program;
  const auto commands = commands_of(program.app);
  EXPECT_THAT(bash_completion(commands),
              HasSubstr("'strata import topology') echo '-h --help -o --output --count --quick'"));
  const std::string zsh = zsh_completion(commands);
  EXPECT_THAT(zsh, HasSubstr("topology) _strata_import_topology ;;"));
  EXPECT_THAT(zsh, HasSubstr("'--count=[how many \\[or all\\]]:N: '"));
  EXPECT_THAT(fish_completion(commands),
              HasSubstr("complete -c strata -n \"__strata_at strata import\" -a topology -d 'a "
                        "machine\\'s links'"));
}

// A shell that offers files for a bandwidth is worse than one that is silent.
TEST(Manual, KnowsWhatTextEachOptionTakes) {
  NoRunner runner;
  const auto app = program(runner, "", [] { return std::string(); });
  EXPECT_NO_THROW(commands_of(*app));
  EXPECT_THROW(value_kind("--unheard-of", "TEXT"), InternalError);
  EXPECT_EQ(value_kind("--unheard-of", "FLOAT").placeholder, "X");
}

// "import", "cluster"
std::vector<std::string> words_of(const CommandFacts& command) {
  std::vector<std::string> words;
  for (const std::string_view word : split_at_blanks(command.path)) words.emplace_back(word);
  words.erase(words.begin());
  return words;
}

// What is said about an empty value of an option or an argument of a command of the program.
std::string said_of_empty(const CommandFacts& command, const OptionFacts& option) {
  NoRunner runner;
  const auto app = program(runner, "", [] { return ""; });
  std::vector<std::string> words = words_of(command);
  if (option.names.front().starts_with("-")) words.push_back(option.names.back());
  words.emplace_back();
  std::reverse(words.begin(), words.end());  // as the parser takes them
  try {
    app->parse(words);
  } catch (const CLI::ParseError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("run: ") + error.what();
  }
  return "accepted";
}

// An empty text stands for an option that was not given, so that none may be given empty.
TEST(Program, TakesNoEmptyValue) {
  NoRunner runner;
  const auto app = program(runner, "", [] { return ""; });
  std::size_t tried = 0;
  for (const CommandFacts& command : commands_of(*app)) {
    const auto check = [&](const OptionFacts& option) {
      EXPECT_THAT(said_of_empty(command, option), HasSubstr(": '' is no "))
          << command.path << " " << option.names.back();
      ++tried;
    };
    for (const OptionFacts& option : command.options) {
      if (!option.flag) check(option);
    }
    if (!command.arguments.empty()) check(command.arguments.front());
  }
  EXPECT_GT(tried, 100u);
}

}  // namespace
}  // namespace strata
