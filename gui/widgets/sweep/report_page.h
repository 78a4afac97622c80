#pragma once

// The report of a scenario: its texts, tables, claims and charts, as `strata report` writes them,
// in the colours of the window.

#include <QImage>
#include <QTextBrowser>
#include <memory>
#include <vector>

#include "sim/report/document.h"

namespace strata::gui {

using ReportPtr = std::shared_ptr<const ReportDocument>;

class ReportPage : public QTextBrowser {
  Q_OBJECT

 public:
  explicit ReportPage(QWidget* parent = nullptr);

  void show_report(ReportPtr report);
  /// In place of one.
  void say(const QString& text);
  /// Null where none is shown.
  const ReportPtr& report() const { return report_; }
  std::size_t chart_count() const { return charts_.size(); }
  /// As it stands on the page.
  QImage chart(std::size_t place) const;

 protected:
  QVariant loadResource(int type, const QUrl& name) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  int chart_width() const;
  QString style() const;
  void lay_out();

  ReportPtr report_;
  std::vector<const Chart*> charts_;  ///< of the report, in its order
  int laid_out_for_ = 0;              ///< width of the charts
};

}  // namespace strata::gui
