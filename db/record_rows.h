#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "db/record_columns.h"

namespace evo {

// Described records as rows. A statement names the columns of a record in the order of ForEachColumn.

std::string EncodeSamples(const std::vector<std::uint32_t>& samples);
std::vector<std::uint32_t> DecodeSamples(std::string_view blob);

// NaN for NULL.
double RealOrNan(const SQLite::Column& column);

void BindValue(SQLite::Statement& statement, int position, const Column& column, bool value);
void BindValue(SQLite::Statement& statement, int position, const Column& column, std::int64_t value);
void BindValue(SQLite::Statement& statement, int position, const Column& column, std::uint64_t value);
void BindValue(SQLite::Statement& statement, int position, const Column& column, double value);
void BindValue(SQLite::Statement& statement, int position, const Column& column, const std::string& value);
void BindValue(SQLite::Statement& statement, int position, const Column& column, const std::vector<std::uint32_t>& value);
inline void BindValue(SQLite::Statement& statement, int position, const Column& column, int value) {
  BindValue(statement, position, column, std::int64_t{value});
}
template <typename Enumeration>
requires std::is_enum_v<Enumeration>
void BindValue(SQLite::Statement& statement, int position, const Column& column, Enumeration value) {
  // One without a spelling is not known.
  if (const std::string_view spelling = ToString(value); spelling.empty())
    statement.bind(position);
  else
    BindValue(statement, position, column, std::string(spelling));
}

// NULL leaves a value as it is, except that a double becomes NaN. An unknown spelling throws Error.
void ReadValue(const SQLite::Column& stored, const Column& column, bool& value);
void ReadValue(const SQLite::Column& stored, const Column& column, int& value);
void ReadValue(const SQLite::Column& stored, const Column& column, std::int64_t& value);
void ReadValue(const SQLite::Column& stored, const Column& column, std::uint64_t& value);
void ReadValue(const SQLite::Column& stored, const Column& column, double& value);
void ReadValue(const SQLite::Column& stored, const Column& column, std::string& value);
void ReadValue(const SQLite::Column& stored, const Column& column, std::vector<std::uint32_t>& value);
void ReadValue(const SQLite::Column& stored, const Column& column, Outcome& value);
void ReadValue(const SQLite::Column& stored, const Column& column, Stage& value);
void ReadValue(const SQLite::Column& stored, const Column& column, Bottleneck& value);

// "e.outcome, e.stage, ..." for the prefix "e.".
template <DescribedRecord Record>
std::string ColumnList(std::string_view prefix = "") {
  std::vector<std::string> names = ColumnNames<Record>();
  for (std::string& name : names) name.insert(0, prefix);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Reads a record from its columns, of which `column` is the first, and moves `column` behind the last.
template <DescribedRecord Record>
Record ReadRecord(SQLite::Statement& row, int& column) {
  Record record;
  ForEachColumn(record, [&](const Column& c, auto& field) { ReadValue(row.getColumn(column++), c, field); });
  return record;
}

// All rows of a query that selects the columns of `Record`.
template <DescribedRecord Record>
std::vector<Record> ReadAll(SQLite::Statement& query) {
  std::vector<Record> records;
  while (query.executeStep()) {
    int column = 0;
    records.push_back(ReadRecord<Record>(query, column));
  }
  return records;
}

// Inserts rows into a table whose columns are `keys` and those of `Record`.
template <DescribedRecord Record>
class RecordInsert {
 public:
  RecordInsert(SQLite::Database& db, std::string_view table, std::initializer_list<std::string> keys)
      : statement_(db, Sql(table, keys)) {}

  template <typename... Keys>
  void operator()(const Record& record, const Keys&... keys) {
    int position = 0;
    (statement_.bind(++position, keys), ...);
    ForEachColumn(record, [&](const Column& c, const auto& field) { BindValue(statement_, ++position, c, field); });
    statement_.exec();
    statement_.reset();
  }

 private:
  static std::string Sql(std::string_view table, std::vector<std::string> columns) {
    for (std::string& name : ColumnNames<Record>()) columns.push_back(std::move(name));
    const std::vector<std::string_view> values(columns.size(), "?");
    return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(columns, ", "), fmt::join(values, ", "));
  }

  SQLite::Statement statement_;
};

}  // namespace evo
