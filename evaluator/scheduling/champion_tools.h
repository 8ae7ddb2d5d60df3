#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/messages/requests.h"
#include "evaluator/scheduling/meanwhile.h"
#include "evaluator/scheduling/seeds.h"
#include "evaluator/workers/tools_side_by_side.h"

namespace evo {

// Looks into a kernel while it runs. WorkerSet implements it; a test's fake answers instead. Nothing else may use the device
// meanwhile.
class ChampionTools {
 public:
  virtual ~ChampionTools() = default;
  // Runs samples of a source's blocks in the emulation, which takes a processor and not the device.
  virtual ToolRun SampleBlocks(const std::string& source, const Seeds& seeds, const std::stop_token& stop) = 0;
  // Runs the small case under compute-sanitizer's tools, and a search case as far as its time allows.
  virtual std::vector<ToolRun> RunSanitizer(const AttachedProgram& program, const Seeds& seeds, const std::stop_token& stop) = 0;
  // What the hardware counts while the program and the baseline run. Empty where the device counts nothing. `text`: of the file
  // of whose lines the image speaks.
  virtual CountedEvents CountEvents(const AttachedProgram&, const std::string& /*text*/, const Seeds&, const std::stop_token&) {
    return {};
  }
};

// Counts while the device does nothing else, then runs the tools, and adds what they found to the check; a fault fails it.
// `blocks`: the sample of blocks, which is on its way. Adds nothing after a stop request.
void AddToolRuns(ChampionTools& tools, const AttachedProgram& program, const std::string& text, const Seeds& seeds,
                 Meanwhile<ToolRun>& blocks, ChampionCheck& check, const std::stop_token& stop);

}  // namespace evo
