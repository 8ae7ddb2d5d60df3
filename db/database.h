#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "core/error.h"
#include "db/migrations.h"

namespace evo {

// Marks a SQLite file as evo's (PRAGMA application_id): "evo1" in ASCII.
inline constexpr std::int32_t kApplicationId = 0x65766f31;

// Long enough for another run's largest generation to be written on a slow disk.
inline constexpr std::chrono::milliseconds kBusyTimeout{10'000};

// What a failure of SQLite means to the user, with the path and what to do, in one line.
Error Explained(const SQLite::Exception& error, const std::string& path);

// Opens or creates a database for writing and brings it to the last of `migrations`: foreign keys on, WAL, busy timeout.
// ":memory:" is allowed. Throws Error; a file that is newer, another program's or no database at all has then not been changed.
std::unique_ptr<SQLite::Database> OpenForWriting(const std::string& path, std::chrono::milliseconds busy_timeout,
                                                 std::span<const Migration> migrations);

// Opens an existing database for reading, also while a run writes to it and on a read-only disk, and begins a transaction: all
// that is read is of one moment. Throws Error; UsageError if there is no such file.
std::unique_ptr<SQLite::Database> OpenForReading(const std::string& path);

// Calls `work` with SQLite's exceptions explained.
template <typename Work>
auto Explaining(const std::string& path, Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw Explained(error, path);
  }
}

}  // namespace evo
