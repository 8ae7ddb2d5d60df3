#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"

namespace evo {

// A value of a JSON document that knows where it stands, for messages: "attention/task.json: arguments[2].shape: ...".
// Refers to the document, which must outlive it. Every function throws UsageError if the value is not what is asked for.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, const std::string& file, std::string path)
      : value_(&value), file_(&file), path_(std::move(path)) {}

  [[noreturn]] void Fail(std::string_view what) const;

  // An object may hold only the keys named here.
  void AllowKeys(std::initializer_list<std::string_view> keys) const;
  bool Has(std::string_view key) const;
  JsonValue At(std::string_view key) const;
  // The elements of an array.
  std::vector<JsonValue> Elements() const;
  std::vector<std::string> Keys() const;

  bool IsString() const { return value_->is_string(); }
  std::string String() const;
  // A C identifier.
  std::string Name() const;
  std::int64_t Integer() const;
  double Real() const;
  // A number, or a text that parses as an expression and mentions only `names`.
  Expression Formula(const std::vector<std::string>& names) const;

 private:
  const nlohmann::json* value_;
  const std::string* file_;
  std::string path_;
};

// Parses a JSON document. Throws UsageError with the line and column where the offending token
// ends, also for a key given twice in one object.
nlohmann::json ParseJsonDocument(const std::string& text, const std::string& file);

}  // namespace evo
