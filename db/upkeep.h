#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace evo {

// Looks through a whole database: SQLite's own check of the file, references between tables, texts of templates, each candidate,
// and the sums that are kept of generations and operators. Calls `say` for each thing that is wrong, one line each, with the run
// and the candidate. In a memory that does not grow with the database. Throws Error if the file cannot be read.
void CheckDatabase(const std::string& path, const std::function<void(const std::string&)>& say);

struct VacuumResult {
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;
  int texts_removed = 0;  // that nothing refers to
};

// Removes texts that nothing refers to, counts the sums again and gives free room in the file back to the disk; needs as much
// room as the file has meanwhile. Throws Error, also while another program writes.
VacuumResult VacuumDatabase(const std::string& path);

}  // namespace evo
