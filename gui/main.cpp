// `strata-gui [FILE...]`: the desktop program.

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QIcon>
#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <memory>
#include <string_view>

#include "exec/machine/local_machine.h"
#include "gui/models/workspace.h"
#include "gui/widgets/window/main_window.h"
#include "sim/base/error.h"

namespace {

using namespace strata;

constexpr int kNotAble = 3;

void name_program() {
  QCoreApplication::setOrganizationName(QStringLiteral("strata"));
  QCoreApplication::setApplicationName(QStringLiteral("strata"));
  QCoreApplication::setApplicationVersion(QStringLiteral(STRATA_VERSION));
}

// Files that are named on the command line must be there; what is in them the window says.
bool all_there(const QStringList& files) {
  bool all = true;
  for (const QString& file : files) {
    if (QFileInfo::exists(file)) continue;
    std::fprintf(stderr, "strata-gui: error: %s: no such file\n", qPrintable(file));
    all = false;
  }
  return all;
}

void read_command_line(QCommandLineParser& options, const QCoreApplication& app) {
  options.setApplicationDescription(QStringLiteral(
      "Shows how fast one training step of a network is, cut over many devices, and why."));
  options.addHelpOption();
  options.addVersionOption();
  options.addPositionalArgument(
      QStringLiteral("FILE"),
      QStringLiteral(
          "a network, cluster or scenario (.toml), a strategy, trace or session (.json), "
          "a database of results (.db)"),
      QStringLiteral("[FILE...]"));
  options.process(app);
}

// Such a question is answered without a display.
bool asks_for_text(std::string_view argument) {
  constexpr std::array kQuestions{"-h", "--help", "--help-all", "-v", "--version"};
  return std::find(kQuestions.begin(), kQuestions.end(), argument) != kQuestions.end();
}

void answer(char* program, char* question) {
  std::array arguments{program, question};
  int count = static_cast<int>(arguments.size());
  const QCoreApplication app(count, arguments.data());
  name_program();
  QCommandLineParser options;
  read_command_line(options, app);  // which ends the program
}

int run(const QApplication& app) {
  QCommandLineParser options;
  read_command_line(options, app);
  if (!all_there(options.positionalArguments())) return 2;

  const Processes processes;
  const std::unique_ptr<Runner> runner = local_machine(processes);
  gui::Workspace workspace(*runner);
  const QString sessions = gui::Session::usual_folder();
  gui::Session::take_in_older(sessions);
  gui::MainWindow window(workspace, {sessions, {}});
  window.open_files(options.positionalArguments());
  window.show();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (asks_for_text(argv[i])) answer(argv[0], argv[i]);
  }
  QApplication app(argc, argv);
  std::setlocale(LC_NUMERIC, "C");  // Qt took over the desktop's, where 0.5 may be read as 0
  name_program();
  QApplication::setApplicationDisplayName(QStringLiteral("Strata"));
  QApplication::setDesktopFileName(QStringLiteral("org.strata.Strata"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/org.strata.Strata.svg")));
  try {
    return run(app);
  } catch (const Error& error) {
    std::fprintf(stderr, "strata-gui: error: %s\n", error.message().c_str());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "strata-gui: error: out of memory\n");
    return kNotAble;
  }
}
