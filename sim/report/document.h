#pragma once

// A report as a value: sections of text, tables, charts and claims, to be written as one HTML file
// that needs nothing else, as Markdown, or as CSV. Same document, same bytes. Texts are plain: no
// markup in them is obeyed, and what is not UTF-8 is written as U+FFFD. Pure; thread-safe.
//
// The printers throw InternalError for a table whose rows are not as long as its columns, and for a
// series whose lists differ in length.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata {

/// Text, or a number with as many digits as it is worth.
struct Cell {
  std::string text;
  std::optional<double> number;  ///< what the text stands for, exact: CSV has this one
  bool operator==(const Cell&) const = default;
};

struct ReportTable {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Places whose x or y is not finite, or not positive on a logarithmic side, are left out: a line
/// has a gap there. Lines are drawn in the order of x.
struct ChartSeries {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> ideal;  ///< by place; empty where there is none
};

enum class ChartKind : std::uint8_t { lines, bars, scatter };

/// Series over a number, or over categories: where `categories` is not empty, x counts them from 0.
/// Bars without categories have one for each x.
struct Chart {
  ChartKind kind = ChartKind::lines;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<std::string> categories;
  std::vector<ChartSeries> series;
};

enum class Verdict : std::uint8_t { reproduced, differs, unanswered };

struct ReportClaim {
  std::string text;
  std::string said, found;  ///< with units
  Verdict verdict = Verdict::unanswered;
  std::string difference;  ///< "+12 %"; empty where unanswered
  std::string why;
};

struct Section {
  std::string title;
  std::string text;  ///< paragraphs are separated by empty lines
  std::variant<std::monostate, ReportTable, Chart, std::vector<ReportClaim>> body;
  ReportTable data;  ///< of a chart: what it draws, for Markdown and CSV
  /// What kept the section, or a part of it, from being made: a line each.
  std::vector<std::string> errors = {};
};

/// Not to be taken for the Document of sim/text, which is a file that was read.
struct ReportDocument {
  std::string title;
  std::string about;
  std::vector<std::string> provenance;  ///< lines at the end
  std::vector<Section> sections;
  /// What a reader must know before all else, at the top: a line each.
  std::vector<std::string> notes = {};
};

std::string print_html(const ReportDocument& document);
/// What stands in the page's body, for a program that draws charts by itself: `figure` gives what
/// stands for one. Without contents, and without the tables of charts.
std::string print_html_body(const ReportDocument& document,
                            const std::function<std::string(const Chart&)>& figure);
std::string print_markdown(const ReportDocument& document);
std::string print_csv(const ReportTable& table);

/// The chart alone, an <svg> element whose colours follow the page's (light and dark).
std::string print_svg(const Chart& chart);
/// The same with its own colours, where there is no page.
std::string print_svg_alone(const Chart& chart, bool dark);

// What all printers share. The checks throw InternalError.

/// Every row is as long as the columns.
void check(const ReportTable& table);
/// x and y of a series have one length, and ideal too where there is one.
void check(const Chart& chart);

/// By column: whether some cell is a number, and all others are numbers or empty. Such a column is
/// set to the right, its heading too.
std::vector<bool> number_columns(const ReportTable& table);

std::string_view name(Verdict verdict);
/// Beside the name, so that a verdict is told by more than its colour.
std::string_view symbol(Verdict verdict);
/// For documents that have nothing better than a table.
ReportTable table_of(const std::vector<ReportClaim>& claims);

}  // namespace strata
