#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cli/manual/manual.h"

namespace strata {
namespace {

// As text: a hyphen that may be copied, no escapes but ours, no line that reads as a request. A
// form of many optional parts may be broken before each of them.
std::string roff(const std::string& text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, 2, "[,") == 0) safe += "\\:";
    const bool line_start = safe.empty() || safe.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '~' || c == '^') {
      safe += c == '~' ? "\\(ti" : "\\(ha";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}
std::string italic(const std::string& text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// As a sentence.
std::string sentence(const std::string& text) {
  return capital(text) + (text.ends_with('.') ? "" : ".");
}

std::string page_name(const std::string& path) {
  std::string name = path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string reference(const std::string& path) {
  return bold(page_name(path)) + "(1)";
}

// "-o, --output FILE", with what is typed as it is in bold.
std::string heading(const OptionFacts& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  if (!option.flag) text += " " + italic(option.value.placeholder);
  return text;
}

std::string argument_name(const OptionFacts& argument) {
  return italic(argument.names.front()) + (argument.repeatable ? "..." : "");
}

std::string synopsis(const CommandFacts& command) {
  std::string text = bold(command.path);
  for (const OptionFacts& argument : command.arguments) {
    const std::string name = argument_name(argument);
    text += argument.required ? " " + name : " [" + name + "]";
  }
  for (const OptionFacts& option : command.options) {
    if (!option.required) continue;
    text += " " + bold(option.names.back()) + " " + italic(option.value.placeholder);
  }
  if (!command.commands.empty()) text += " " + italic("COMMAND");
  return text + " [" + italic("OPTION") + "...]\n";
}

std::string entry(const std::string& heading, const std::string& text) {
  return ".TP\n" + heading + "\n" + text + "\n";
}

std::string arguments(const CommandFacts& command) {
  if (command.arguments.empty()) return "";
  std::string text = ".SH ARGUMENTS\n";
  for (const OptionFacts& argument : command.arguments) {
    text += entry(argument_name(argument), roff(argument.description));
  }
  return text;
}

// By group, in the order in which groups begin; a group of its own name is a section of its own.
std::string options(const CommandFacts& command) {
  std::vector<std::string> groups{"Options"};
  for (const OptionFacts& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (group != groups.front()) text += ".SS " + roff(group) + "\n";
    for (const OptionFacts& option : command.options) {
      if (option.group == group) text += entry(heading(option), roff(option.description));
    }
  }
  return text;
}

std::string commands_below(const CommandFacts& command, std::span<const CommandFacts> all) {
  if (command.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const std::string& name : command.commands) {
    const CommandFacts& facts = below(command, name, all);
    text += entry(reference(facts.path), roff(first_line(facts.description)));
  }
  return text;
}

std::string exit_status() {
  return ".SH EXIT STATUS\n" + entry("0", "Done.") +
         entry("1", "The job failed or found a mismatch.") +
         entry("2", "Bad usage or bad input; the message names file and line.") +
         entry("3", "A device or the file system is missing or not able.");
}

// Of the program as a whole.
std::string environment() {
  return ".SH ENVIRONMENT\n" +
         entry(
             bold("XDG_CACHE_HOME"),
             "Where the choices of cuDNN's engines, and what a run without a profile measures for "
             "its search, are kept, in the folder " +
                 bold("strata") + "; " + bold("~/.cache") + " where it is not set.") +
         entry(bold("STRATA_CUDA_PARTITIONS"),
               "Set to " + bold("shared") + ", devices that share a GPU all use the whole of it.") +
         entry(bold("STRATA_CUDA_ENGINES"),
               "Set to " + bold("first") +
                   ", the first of cuDNN's engines that runs is taken, and none is timed.") +
         entry(bold("STRATA_CUDA_PROGRESS"),
               "Set to " + bold("1") +
                   ", a line on the standard error stream tells of each product that an engine of "
                   "cuDNN is looked for.");
}

std::string example(const std::string& command, const std::string& what) {
  return roff(what) + "\n.PP\n.RS 4\n.nf\n" + bold(command) + "\n.fi\n.RE\n";
}

std::string examples() {
  return ".SH EXAMPLES\n" +
         example("strata predict vgg16 --cluster p100-4x4 --strategy data,owt",
                 "One training step of VGG-16 on four hosts of four P100s, cut in two ways:") +
         ".PP\n" +
         example("strata solve vgg16 --cluster p100-1x4 -o best.json",
                 "The fastest way to cut it over four of them, with proof:") +
         ".PP\n" +
         example("strata explain vgg16 --cluster p100-1x4 --strategy best.json --layer features_0",
                 "Why a layer is cut so:");
}

std::string see_also(const CommandFacts& command, std::span<const CommandFacts> all) {
  std::string text = ".SH SEE ALSO\n";
  const std::size_t last = command.path.rfind(' ');
  if (last != command.path.npos) text += reference(command.path.substr(0, last)) + ",\n";
  for (const CommandFacts& other : all) {
    if (other.path.starts_with(command.path + " ")) text += reference(other.path) + ",\n";
  }
  return text + "and the guide, in the folder\n.I share/doc/strata/docs\nof where Strata is.\n";
}

ManPage man_page(const CommandFacts& command, std::span<const CommandFacts> all,
                 const Release& release) {
  const std::string name = page_name(command.path);
  std::string title = roff(name);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool whole = &command == &all.front();
  const std::string what = whole ? "cut the training of neural networks over many devices"
                                 : first_line(command.description);
  std::string text =
      fmt::format(".TH {} 1 {} \"strata {}\" \"Strata\"\n", title, release.date, release.version);
  text += ".nh\n.ad l\n";  // names stay whole, to be copied
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(what));
  text += ".SH SYNOPSIS\n" + synopsis(command);
  text += fmt::format(".SH DESCRIPTION\n{}\n", roff(sentence(command.description)));
  text += commands_below(command, all) + arguments(command) + options(command);
  text += exit_status() + (whole ? environment() + examples() : "") + see_also(command, all);
  return {name, text};
}

}  // namespace

std::vector<ManPage> man_pages(std::span<const CommandFacts> commands, const Release& release) {
  std::vector<ManPage> pages;
  for (const CommandFacts& command : commands) {
    pages.push_back(man_page(command, commands, release));
  }
  return pages;
}

}  // namespace strata
