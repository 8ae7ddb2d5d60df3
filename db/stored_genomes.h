#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/genome.h"
#include "db/genome_parts.h"

namespace evo {

// Puts genomes together from the texts of a database (docs/database.md, "Texts"). Parses each text once, and keeps a bounded
// number of what it has parsed, because children share most of their edits with their parents.
class StoredGenomes {
 public:
  // Precondition: the database outlives this object.
  explicit StoredGenomes(SQLite::Database& db);

  // `head` and `edits` are the columns of candidate_row; edits is unset if head is the whole genome. Throws Error for what cannot
  // be read.
  GenomeParts Read(std::int64_t head, const std::optional<std::string>& edits);

 private:
  std::string Text(std::int64_t number);
  std::shared_ptr<const Genome> Head(std::int64_t number);
  std::shared_ptr<const Edit> EditOf(std::int64_t number);
  Genome ReadWhole(std::int64_t head, const std::optional<std::string>& edits);

  SQLite::Statement text_;
  std::unordered_map<std::int64_t, std::shared_ptr<const Genome>> heads_;
  std::unordered_map<std::int64_t, std::shared_ptr<const Edit>> edits_;
};

// The numbers of a JSON array of integers, such as "[3,14]". Throws Error for any other text.
std::vector<std::int64_t> NumbersOf(const std::string& json);

}  // namespace evo
