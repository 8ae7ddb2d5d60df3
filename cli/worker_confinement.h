#pragma once

#include <string>

#include "evaluator/workers/worker_main.h"

namespace evo {

// A factory of roles called `role`, which confines the process as soon as the role is made, before it sees a candidate: for
// "compile", "breed" and "run" as docs/security.md says. The role describes what is not in force in "unconfined", a list of
// lines.
WorkerRoleFactory Confined(const std::string& role, WorkerRoleFactory make);

}  // namespace evo
