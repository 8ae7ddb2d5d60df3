#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/machine.h"
#include "core/record_fields.h"
#include "core/store.h"

namespace evo {

// The columns of a described record: one per field, in the order of the record's list, named like the field. The fields of a
// nested record are columns of the same table. kColumnRules holds the exceptions. SQL statements, CSV and the JSON that commands
// print follow from these columns, so that a new field needs only a migration that adds its column.

enum class Encoding {
  kPlain,        // text, number, 0 or 1, or a blob of samples. NULL for NaN and for a negative integer, which mean "not known"
  kDecimalText,  // an unsigned 64-bit number as text, because SQLite's integers are signed
  kNullIfZero,   // NULL for 0, which means "none"
  kNoColumn,     // not kept
};

// An exception: the field's column has another name or another encoding.
struct ColumnRule {
  std::string_view field;
  std::string_view column;
  Encoding encoding = Encoding::kPlain;
};

template <typename Record>
inline constexpr std::array<ColumnRule, 0> kColumnRules{};
template <>
inline constexpr std::array kColumnRules<CaseMeasurement>{ColumnRule{"name", "case_name"}};
template <>
inline constexpr std::array kColumnRules<Counterexample>{
    ColumnRule{"case_name", "failed_case"}, ColumnRule{"generator", "failed_generator"},
    ColumnRule{"seed", "failed_seed", Encoding::kDecimalText}, ColumnRule{"inputs", "failed_inputs"}};
template <>
inline constexpr std::array kColumnRules<Evaluation>{ColumnRule{"shared_run", "shared_run", Encoding::kNullIfZero},
                                                     ColumnRule{"shared_candidate", "shared_candidate", Encoding::kNullIfZero}};
template <>
inline constexpr std::array kColumnRules<SlowestInputs>{ColumnRule{"ratio", "slowest_ratio"},
                                                        ColumnRule{"inputs", "slowest_inputs"}};
template <>
inline constexpr std::array kColumnRules<AdversaryEffort>{ColumnRule{"inputs", "adversary_inputs"},
                                                          ColumnRule{"worst", "adversary_worst"},
                                                          ColumnRule{"worst_inputs", "adversary_worst_inputs"}};
// Decides whether samples are discarded, and matters only while they are taken.
template <>
inline constexpr std::array kColumnRules<ClockState>{ColumnRule{"disturbed", "", Encoding::kNoColumn}};
// The id is the key, which the database assigns.
template <>
inline constexpr std::array kColumnRules<RunRecord>{ColumnRule{"id", "", Encoding::kNoColumn},
                                                    ColumnRule{"seed", "seed", Encoding::kDecimalText}};

// A record of which all columns are NULL, because there is none.
template <DescribedRecord Record>
bool IsAbsent(const Record&) {
  return false;
}
inline bool IsAbsent(const Counterexample& counterexample) { return counterexample.case_name.empty(); }

// True for a field whose values are rows of another table.
template <typename Field>
inline constexpr bool kHasOwnTable = false;
template <typename Value>
inline constexpr bool kHasOwnTable<std::vector<Value>> = !std::is_same_v<Value, std::uint32_t>;
template <typename Key, typename Value>
inline constexpr bool kHasOwnTable<std::map<Key, Value>> = true;

struct Column {
  std::string_view name;
  Encoding encoding = Encoding::kPlain;
  bool absent = false;  // the record is absent: NULL, whatever the field holds
};

// The column of a field of `Record` itself, not of a nested record.
template <DescribedRecord Record>
Column ColumnOf(const Record& record, std::string_view field) {
  for (const ColumnRule& rule : kColumnRules<Record>) {
    if (rule.field == field) return {rule.column, rule.encoding, IsAbsent(record)};
  }
  return {field, Encoding::kPlain, IsAbsent(record)};
}

// Calls visit(Column, field) for every field that has a column.
template <typename Record, typename Visit>
void ForEachColumn(Record& record, Visit&& visit) {
  ForEachField(record, [&](const char* name, auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (DescribedRecord<Field>) {
      ForEachColumn(field, visit);
    } else if constexpr (!kHasOwnTable<Field>) {
      const Column column = ColumnOf(record, name);
      if (column.encoding != Encoding::kNoColumn) visit(column, field);
    }
  });
}

template <DescribedRecord Record>
std::vector<std::string> ColumnNames() {
  std::vector<std::string> names;
  const Record record;
  ForEachColumn(record, [&](const Column& column, const auto&) { names.emplace_back(column.name); });
  return names;
}

}  // namespace evo
