#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/print.h"
#include "db/record_columns.h"

namespace evo {

// Described records as commands print them, in JSON and CSV: the names of columns, and what is not known as null or as an empty
// cell. Samples are printed as their number.

template <typename Value>
bool IsUnknown(const Column& column, const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return column.absent;
  } else if constexpr (std::is_floating_point_v<Value>) {
    return column.absent || std::isnan(value);
  } else if constexpr (std::is_integral_v<Value>) {
    return column.absent || (std::is_signed_v<Value> && value < 0) || (column.encoding == Encoding::kNullIfZero && value == 0);
  } else if constexpr (std::is_enum_v<Value>) {
    return column.absent || ToString(value).empty();
  } else {
    return column.absent;
  }
}

template <typename Value>
nlohmann::ordered_json ColumnJson(const Column& column, const Value& value) {
  if (IsUnknown(column, value)) return nullptr;
  if constexpr (std::is_enum_v<Value>) {
    return ToString(value);
  } else if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>>) {
    return value.size();
  } else {
    return value;
  }
}

// These records have a JSON object of their own within an evaluation; the fields of other nested records are among those of the
// record around them.
template <typename Field>
inline constexpr bool kIsNestedInJson =
    std::is_same_v<Field, KernelFacts> || std::is_same_v<Field, InstructionMix> || std::is_same_v<Field, StageClocks> ||
    std::is_same_v<Field, Counterexample> || std::is_same_v<Field, VerifiedDomain> || std::is_same_v<Field, AdversaryEffort>;

// Scripts know the name of a case as "case".
inline std::string JsonKey(const Column& column) { return std::string(column.name == "case_name" ? "case" : column.name); }

template <DescribedRecord Record>
nlohmann::ordered_json RecordJson(const Record& record);

template <DescribedRecord Record>
nlohmann::ordered_json RecordJson(const std::vector<Record>& records) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Record& record : records) list.push_back(RecordJson(record));
  return list;
}

// Adds a key for each field to an object.
template <DescribedRecord Record>
void AddFields(nlohmann::ordered_json& json, const Record& record) {
  ForEachField(record, [&](const char* name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsNestedInJson<Field>) {
      json[name] = IsAbsent(field) ? nlohmann::ordered_json() : RecordJson(field);
    } else if constexpr (DescribedRecord<Field>) {
      AddFields(json, field);
    } else if constexpr (requires { RecordJson(field); }) {
      json[name] = RecordJson(field);
    } else if constexpr (kHasOwnTable<Field>) {
      json[name] = field;
    } else {
      const Column column = ColumnOf(record, name);
      if (column.encoding != Encoding::kNoColumn) json[JsonKey(column)] = ColumnJson(column, field);
    }
  });
}

template <DescribedRecord Record>
nlohmann::ordered_json RecordJson(const Record& record) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  AddFields(json, record);
  return json;
}

// RFC 4180: quoted where that is necessary, with doubled quotes. Cleaned, because CSV has no escapes of its own.
inline std::string CsvText(const std::string& raw) {
  const std::string text = Cleaned(raw);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

template <typename Value>
std::string CsvCell(const Column& column, const Value& value) {
  if (IsUnknown(column, value)) return "";
  if constexpr (std::is_enum_v<Value>) {
    return std::string(ToString(value));
  } else if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>>) {
    return std::to_string(value.size());
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return CsvText(value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "1" : "0";
  } else {
    return fmt::format("{}", value);  // of a double, the shortest text that reads back as the same number
  }
}

}  // namespace evo
