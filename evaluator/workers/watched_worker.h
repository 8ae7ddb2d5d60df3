#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace evo {

// The argument of a worker program that follows kLaunched, with the name of a tool: compute-sanitizer watches the worker.
inline constexpr const char* kWatchedBy = "--watched-by";
// How long a tool may take to write its report when the worker has ended.
inline constexpr std::chrono::seconds kReportTime{20};
// What a worker says that cannot be watched.
inline constexpr const char* kNoSanitizer = "the CUDA toolkit has no compute-sanitizer";

// The program compute-sanitizer of the toolkit in `cuda_root`, or nullopt.
std::optional<std::filesystem::path> FindComputeSanitizer(const std::filesystem::path& cuda_root);
// The words to put before a program that the tool is to watch. Its report goes into the file `log`.
std::vector<std::string> WatchedBy(const std::filesystem::path& sanitizer, const std::string& tool,
                                   const std::filesystem::path& log);

// For a worker that a launcher has started: keeps a worker (RunKept), which is this program without arguments, under a tool of
// the toolkit that is found on this machine. The report lies in `folder` until the tool has ended; then it is removed and sent as
// the last message, {"type":"log","text":..}. Without a compute-sanitizer the only message is "failed". `host`: this machine.
int RunWatched(const std::string& tool, const std::filesystem::path& folder, const std::string& host,
               std::chrono::milliseconds grace);

}  // namespace evo
