#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "core/error.h"
#include "db/lock_wait.h"
#include "db/migrations.h"

namespace evo {

// Identifies a database of evo (PRAGMA application_id): "evo1" in ASCII.
inline constexpr std::int32_t kApplicationId = 0x65766f31;

// A failure of SQLite in one line for the user: path, cause and remedy.
Error Explained(const SQLite::Exception& error, const std::string& path);

// Opens or creates a database for writing, with foreign keys, WAL and a busy timeout, and applies those of `migrations` that it
// lacks. Throws Error. Refuses a newer database, one of another program and any other file, unchanged; UsageError for what is not
// a regular file: a folder, a pipe, a device, SQLite's ":memory:" and "file:" addresses.
std::unique_ptr<SQLite::Database> OpenForWriting(const std::string& path, std::chrono::milliseconds busy_timeout,
                                                 std::span<const Migration> migrations);

// Opens an existing database for reading, also while a run writes to it and on a read-only disk, after bringing an older one up
// to date. Begins a transaction, so that everything is read as of one moment. Throws Error; UsageError if there is no such file,
// or if it is not a regular one.
std::unique_ptr<SQLite::Database> OpenForReading(const std::string& path);

// Calls `work` and replaces an exception of SQLite by its Explained Error.
template <typename Work>
auto Explaining(const std::string& path, Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw Explained(error, path);
  }
}

}  // namespace evo
