#pragma once

#include <string>

#include "cli/command_context.h"
#include "report/report_data.h"

namespace evo {

// Words, promises and sources for a report. Sources are rendered by breed workers, which start when the first is asked for, and
// each is rendered once. Thread-safe as far as one report is made at a time.
ReportTools MakeReportTools(const CommandContext& context);

// "PyTorch=12.5us", also with ns, ms or s. Throws UsageError.
Peer ParsePeer(const std::string& text);

// The page that the build made, or the installed one. Throws Error if it is not there.
std::string ReadReportPage();

}  // namespace evo
