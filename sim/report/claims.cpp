#include "sim/report/claims.h"

#include <string>

#include "sim/base/error.h"

namespace strata {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::differs:
      return "differs";
    case Verdict::unanswered:
      return "unanswered";
  }
  throw InternalError("report: no such verdict");
}

std::string_view symbol(Verdict verdict) {
  if (verdict == Verdict::reproduced) return "\xE2\x9C\x93";  // check mark
  return verdict == Verdict::differs ? "\xE2\x89\xA0" : "?";  // not equal
}

ReportTable table_of(const std::vector<ReportClaim>& claims) {
  ReportTable table{{"Claim", "Said", "Found", "Difference", "Verdict", "Why"}, {}};
  for (const ReportClaim& claim : claims) {
    const std::string verdict =
        std::string(symbol(claim.verdict)) + " " + std::string(name(claim.verdict));
    table.rows.push_back({{claim.text, {}},
                          {claim.said, {}},
                          {claim.found, {}},
                          {claim.difference, {}},
                          {verdict, {}},
                          {claim.why, {}}});
  }
  return table;
}

}  // namespace strata
