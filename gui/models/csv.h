#pragma once

// Comma-separated values as RFC 4180 has them, but that lines end with \n alone: a cell with a
// comma, a quote or a line's end in it stands in quotes, and its own quotes are doubled. Pure.

#include <QString>
#include <QStringList>
#include <string>
#include <string_view>

namespace strata::gui {

inline std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

/// All cells of a line, and its end.
inline QString csv_line(const QStringList& cells) {
  QStringList quoted;
  for (const QString& cell : cells) quoted << QString::fromStdString(csv_cell(cell.toStdString()));
  return quoted.join(QLatin1Char(',')) + QLatin1Char('\n');
}

}  // namespace strata::gui
