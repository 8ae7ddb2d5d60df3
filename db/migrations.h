#pragma once

#include <span>

namespace evo {

// One step of the schema, built into the program from db/migrations/NNNN_name.sql. Takes a database from version - 1 to version.
struct Migration {
  int version = 0;
  const char* name = "";
  const char* sql = "";
};

// All steps in ascending order, from version 1 without gaps. A released step is never changed: every change of the schema is a
// new step.
std::span<const Migration> Migrations();

}  // namespace evo
