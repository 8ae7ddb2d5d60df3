#pragma once

#include <cstdio>

namespace evo {

// The status of a program whose reader closed the pipe, as of one that is ended by SIGPIPE.
inline constexpr int kReaderGone = 141;

// Occupies those of the descriptors 0 to 2 that are closed, so that no file that is opened later, such as a database, gets their
// numbers and what is printed. Messages are then lost; results cannot be written and are reported so. Call it before anything is
// opened.
void OccupyStandardDescriptors();

// Ends the output of a command: writes what is left, closes `out` and says on `messages` if any of it could not be written.
// `error` is the number of the error of an earlier attempt, or 0. Returns `status` if everything was written or if it is not 0
// already; else 1, or kReaderGone, of which nothing is said (`evo history | head`).
int FinishOutput(std::FILE* out, std::FILE* messages, int status, int error);

}  // namespace evo
