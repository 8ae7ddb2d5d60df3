#pragma once

#include <string>

namespace evo {

// Writes a text to a file that the user names. A regular file is written beside its place and renamed, so that it is never seen
// half written; it keeps its permissions. Links are followed and stay. A device, a pipe and the program's own output are written
// to as they are. Throws UsageError if `file` names nothing that can be written so: an empty name, a folder, a socket, a disk;
// Error if the text could not be written.
void WriteOutputFile(const std::string& file, const std::string& text);

// Whether WriteOutputFile would make or replace a regular file, which can have another one beside it.
bool IsRegularOutput(const std::string& file);

}  // namespace evo
