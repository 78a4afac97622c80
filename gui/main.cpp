// `strata-gui [FILE...]`: the desktop program.

#include <QApplication>
#include <QBuffer>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QIcon>
#include <QTimer>
#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>

#include "exec/machine/local_machine.h"
#include "gui/models/file_kind.h"
#include "gui/models/workspace.h"
#include "gui/widgets/window/main_window.h"
#include "sim/base/error.h"
#include "sim/text/file.h"

namespace {

using namespace strata;

constexpr int kNotAble = 3;
constexpr char kPicture[] = "picture";
constexpr int kLookEveryMs = 50, kQuietLooks = 10;

int complain(const Error& error) {
  std::fprintf(stderr, "strata-gui: error: %s\n", error.message().c_str());
  return error.exit_code();
}

void name_program() {
  QCoreApplication::setOrganizationName(QStringLiteral("strata"));
  QCoreApplication::setApplicationName(QStringLiteral("strata"));
  QCoreApplication::setApplicationVersion(QStringLiteral(STRATA_VERSION));
}

// Files that are named on the command line must be there; what is in them the window says.
bool all_there(const QStringList& files) {
  bool all = true;
  for (const QString& file : files) {
    if (QFileInfo::exists(file) || gui::is_named(file.toStdString())) continue;
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
          "a network (.toml, .onnx), cluster or scenario (.toml), a strategy, trace or session "
          "(.json), a database of results (.db); or the name of a network or a cluster"),
      QStringLiteral("[FILE...]"));
  options.addOption({QString::fromLatin1(kPicture),
                     QStringLiteral("write what the window shows, when all is reckoned, and end"),
                     QStringLiteral("FILE.png")});
  options.process(app);
}

// The file that a picture goes to, if any.
std::string picture_file(const QCommandLineParser& options) {
  std::string file = options.value(QString::fromLatin1(kPicture)).toStdString();
  if (!options.isSet(QString::fromLatin1(kPicture))) return file;
  if (!file.ends_with(".png")) throw InputError(file + ": unknown kind of picture; allowed: .png");
  check_can_write(file);
  return file;
}

void write_picture(gui::MainWindow& window, const std::string& file) {
  if (!window.shown_error().isEmpty()) throw InputError(window.shown_error().toStdString());
  QBuffer png;
  png.open(QIODevice::WriteOnly);
  window.grab().save(&png, "PNG");
  write_file_whole(file, png.data().toStdString());
}

// Ends the program with a picture when no job has run for a while, so that all is painted.
void end_with_picture(gui::MainWindow& window, const std::string& file) {
  auto* clock = new QTimer(&window);
  QObject::connect(clock, &QTimer::timeout, &window, [&window, file, clock, quiet = 0]() mutable {
    quiet = window.workspace().jobs().idle() ? quiet + 1 : 0;
    if (quiet < kQuietLooks) return;
    clock->stop();
    try {
      write_picture(window, file);
      QApplication::exit(0);
    } catch (const Error& error) {
      QApplication::exit(complain(error));
    }
  });
  clock->start(kLookEveryMs);
}

bool is_set(const char* variable) {
  return !qEnvironmentVariableIsEmpty(variable);
}

// A picture needs no display; a window does, and Qt would abort without one.
void choose_display(int argc, char** argv) {
  const auto is_given = [&](std::string_view option) {  // after one dash or two
    return std::any_of(argv + 1, argv + argc, [&](std::string_view argument) {
      return argument.starts_with('-') && argument.find(option) <= 2;
    });
  };
  if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM")) return;
  if (is_given("platform")) return;
  if (!is_given(kPicture)) {
    throw EnvironmentError(
        "no display: neither DISPLAY nor WAYLAND_DISPLAY is set; allowed: --picture FILE.png, "
        "which needs none");
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
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
  const std::string picture = picture_file(options);

  const Processes processes;
  const std::unique_ptr<Runner> runner = local_machine(processes);
  gui::Workspace workspace(*runner);
  // A picture is of the files alone, whatever was left open.
  const QString sessions = picture.empty() ? gui::Session::usual_folder() : QString();
  gui::Session::take_in_older(sessions);
  gui::MainWindow window(workspace, {sessions, {}});
  window.open_files(options.positionalArguments());
  window.show();
  if (!picture.empty()) end_with_picture(window, picture);
  return QApplication::exec();
}

int start(int argc, char** argv) {
  choose_display(argc, argv);
  QApplication app(argc, argv);
  std::setlocale(LC_NUMERIC, "C");  // Qt took over the desktop's, where 0.5 may be read as 0
  name_program();
  QApplication::setApplicationDisplayName(QStringLiteral("Strata"));
  QApplication::setDesktopFileName(QStringLiteral("org.strata.Strata"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/org.strata.Strata.svg")));
  return run(app);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error of what writes it
  for (int i = 1; i < argc; ++i) {
    if (asks_for_text(argv[i])) answer(argv[0], argv[i]);
  }
  try {
    return start(argc, argv);
  } catch (const Error& error) {
    return complain(error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "strata-gui: error: out of memory\n");
    return kNotAble;
  }
}
