#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/store.h"

namespace evo {

// The names of those templates of a stored run whose files in the task's folder have another text now, cannot be read or are
// gone. The run goes on with the texts that it stored.
std::vector<std::string> ChangedTemplates(const std::filesystem::path& folder, const RunRecord& run);

// Says so in one line if there are any.
void SayWhatChanged(std::FILE* messages, const std::filesystem::path& folder, const RunRecord& run);

}  // namespace evo
