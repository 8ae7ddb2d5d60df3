#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "report/page_server.h"
#include "report/report_data.h"

namespace evo {

// What `evo serve` answers: the page at /, the report of a run at /data, one candidate with its source at /candidate. Everything
// is read from the database when it is asked for, in transactions that end with the answer, so that a run that writes goes on.
// Thread-safe.
class ReportSite {
 public:
  ReportSite(std::string page, std::string database, ReportOptions options, ReportTools tools);
  // `target`: "/data?run=1". A value of `known` that is the present one's gets status 304.
  Answer Get(std::string_view target, std::string_view known);

 private:
  Answer Data(std::optional<RunId> run, std::string_view known);

  struct Made {
    std::string version;
    std::shared_ptr<const std::string> text;
  };

  const std::shared_ptr<const std::string> page_;
  const std::string database_;
  const ReportOptions options_;
  const ReportTools tools_;
  std::mutex mutex_;            // one report is made at a time; guards what follows
  std::map<RunId, Made> made_;  // of the run that was asked for, 0 for the latest; few
};

}  // namespace evo
