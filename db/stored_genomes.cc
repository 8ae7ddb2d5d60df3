#include "db/stored_genomes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <vector>

#include "core/error.h"

namespace evo {
namespace {

// Edits and heads each. With 4,096, a run of 50,000 candidates had many parsed again and again.
constexpr std::size_t kMostKept = 32'768;

// A genome's canonical JSON begins with its edits.
std::string Whole(const std::string& edits, const std::string& head) {
  return fmt::format("{{\"edits\":[{}],{}", edits, head.empty() ? head : head.substr(1));
}

template <typename Kept, typename Value>
std::shared_ptr<const Value> Keep(Kept& kept, std::int64_t number, Value value) {
  if (kept.size() >= kMostKept) kept.clear();
  return kept.insert_or_assign(number, std::make_shared<const Value>(std::move(value))).first->second;
}

}  // namespace

std::vector<std::int64_t> NumbersOf(const std::string& json) {
  std::vector<std::int64_t> numbers;
  const char* at = json.data();
  const char* const end = at + json.size();
  const auto refuse = [&] { throw Error("genome: its list of edits cannot be read"); };
  if (json.size() < 2 || *at != '[' || end[-1] != ']') refuse();
  if (json == "[]") return numbers;
  while (at + 1 < end) {
    const auto [next, failed] = std::from_chars(at + 1, end, numbers.emplace_back());
    if (failed != std::errc() || (*next != ',' && next + 1 != end)) refuse();
    at = next;
  }
  return numbers;
}

StoredGenomes::StoredGenomes(SQLite::Database& db) : text_(db, "SELECT content FROM text WHERE text = ?") {}

std::string StoredGenomes::Text(std::int64_t number) {
  text_.reset();
  text_.bind(1, number);
  if (!text_.executeStep()) throw Error(fmt::format("genome: its text {} is missing", number));
  return text_.getColumn(0).getString();
}

std::shared_ptr<const Genome> StoredGenomes::Head(std::int64_t number) {
  const auto found = heads_.find(number);
  return found != heads_.end() ? found->second : Keep(heads_, number, GenomeFromJson(Whole("", Text(number))));
}

std::shared_ptr<const Edit> StoredGenomes::EditOf(std::int64_t number) {
  const auto found = edits_.find(number);
  if (found != edits_.end()) return found->second;
  Genome alone = GenomeFromJson(Whole(Text(number), R"({"parameters":{},"template":"","template_digest":""})"));
  if (alone.edits.size() != 1) throw Error(fmt::format("genome: its text {} is not one edit", number));
  return Keep(edits_, number, std::move(alone.edits.front()));
}

// With the messages that a whole genome has.
Genome StoredGenomes::ReadWhole(std::int64_t head, const std::optional<std::string>& edits) {
  if (!edits) return GenomeFromJson(Text(head));
  std::vector<std::string> texts;
  for (const std::int64_t number : NumbersOf(*edits)) texts.push_back(Text(number));
  return GenomeFromJson(Whole(fmt::format("{}", fmt::join(texts, ",")), Text(head)));
}

GenomeParts StoredGenomes::Read(std::int64_t head, const std::optional<std::string>& edits) {
  const auto whole = [&] { return GenomeParts{std::make_shared<const Genome>(ReadWhole(head, edits)), {}}; };
  if (!edits) return whole();
  try {
    GenomeParts parts{Head(head), {}};
    const std::vector<std::int64_t> numbers = NumbersOf(*edits);
    parts.edits.reserve(numbers.size());
    for (const std::int64_t number : numbers) parts.edits.push_back(EditOf(number));
    return parts;
  } catch (const Error&) {
    return whole();
  }
}

}  // namespace evo
