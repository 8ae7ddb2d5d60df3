#pragma once

#include <span>

namespace evo {

// One step of the schema, from db/migrations/NNNN_name.sql, built into the program. Takes a database from version - 1 to version.
struct Migration {
  int version = 0;
  const char* name = "";
  const char* sql = "";
};

// All steps, ascending from version 1 without gaps. A step that was released is never changed; a change of the schema is a new
// one.
std::span<const Migration> Migrations();

}  // namespace evo
