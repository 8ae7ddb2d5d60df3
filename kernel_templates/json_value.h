#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"

namespace evo {

// A value of a JSON document that knows its place there, for messages: "attention/task.json: arguments[2].shape: ...".
// It refers to the document, which must outlive it. Every getter throws UsageError if the value is of another kind.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, const std::string& file, std::string path)
      : value_(&value), file_(&file), path_(std::move(path)) {}

  [[noreturn]] void Fail(std::string_view what) const;

  // Fails if the object has a key other than these.
  void AllowKeys(std::initializer_list<std::string_view> keys) const;
  bool Has(std::string_view key) const;
  JsonValue At(std::string_view key) const;
  // The elements of an array.
  std::vector<JsonValue> Elements() const;
  std::vector<std::string> Keys() const;

  bool IsString() const { return value_->is_string(); }
  std::string String() const;
  // A string that is a C identifier.
  std::string Name() const;
  std::int64_t Integer() const;
  double Real() const;
  // A number, or a string that parses as an expression and mentions only `names`.
  Expression Formula(const std::vector<std::string>& names) const;

 private:
  const nlohmann::json* value_;
  const std::string* file_;
  std::string path_;
};

// Parses a JSON document. Throws UsageError with the line and column where the offending token ends, and for a key that one
// object has twice.
nlohmann::json ParseJsonDocument(const std::string& text, const std::string& file);

}  // namespace evo
