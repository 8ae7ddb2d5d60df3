#include "kernel_templates/json_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/json_error.h"
#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

using nlohmann::json;

// Describes a value in a message about a value of the wrong kind.
std::string Describe(const json& value) {
  if (value.is_string() || value.is_number() || value.is_boolean() || value.is_null()) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return value.is_array() ? "a list" : "an object";
}

// "line:column" of a byte; bytes count from 1.
std::string Position(const std::string& text, std::size_t byte) {
  const std::size_t before = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(before), '\n');
  const std::size_t line_begin = before == 0 ? std::string::npos : text.rfind('\n', before - 1);
  return fmt::format("{}:{}", line, line_begin == std::string::npos ? before + 1 : before - line_begin);
}

}  // namespace

void JsonValue::Fail(std::string_view what) const {
  throw UsageError(fmt::format("{}: {}{}{}", *file_, path_, path_.empty() ? "" : ": ", what));
}

void JsonValue::AllowKeys(std::initializer_list<std::string_view> keys) const {
  for (const std::string& key : Keys()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      Fail(fmt::format("unknown key '{}'; there are {}", key, fmt::join(keys, ", ")));
    }
  }
}

bool JsonValue::Has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

JsonValue JsonValue::At(std::string_view key) const {
  if (!value_->is_object()) Fail(fmt::format("expected an object, not {}", Describe(*value_)));
  const auto member = value_->find(key);
  if (member == value_->end()) Fail(fmt::format("'{}' is missing", key));
  return {*member, *file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
}

std::vector<JsonValue> JsonValue::Elements() const {
  if (!value_->is_array()) Fail(fmt::format("expected a list, not {}", Describe(*value_)));
  std::vector<JsonValue> elements;
  for (const json& element : *value_) elements.emplace_back(element, *file_, fmt::format("{}[{}]", path_, elements.size()));
  return elements;
}

std::vector<std::string> JsonValue::Keys() const {
  if (!value_->is_object()) Fail(fmt::format("expected an object, not {}", Describe(*value_)));
  std::vector<std::string> keys;
  for (const auto& member : value_->items()) keys.push_back(member.key());
  return keys;
}

std::string JsonValue::String() const {
  if (!value_->is_string()) Fail(fmt::format("expected a string, not {}", Describe(*value_)));
  return value_->get<std::string>();
}

std::string JsonValue::Name() const {
  std::string name = String();
  if (!IsIdentifier(name)) Fail(fmt::format("'{}' is not a name of letters, digits and '_'", name));
  return name;
}

std::int64_t JsonValue::Integer() const {
  const bool too_large = value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (!value_->is_number_integer() || too_large) Fail(fmt::format("expected an integer, not {}", Describe(*value_)));
  return value_->get<std::int64_t>();
}

double JsonValue::Real() const {
  if (!value_->is_number()) Fail(fmt::format("expected a number, not {}", Describe(*value_)));
  return value_->get<double>();
}

Expression JsonValue::Formula(const std::vector<std::string>& names) const {
  if (!value_->is_string() && !value_->is_number()) {
    Fail(fmt::format("expected a number or an expression in quotes, not {}", Describe(*value_)));
  }
  try {
    Expression expression = Expression::Parse(value_->is_string() ? value_->get<std::string>() : value_->dump());
    for (const std::string& name : expression.Names()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        Fail(fmt::format("'{}' is not a size; sizes are {}", name, fmt::join(names, ", ")));
      }
    }
    return expression;
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    Fail(error.what());
  }
}

json ParseJsonDocument(const std::string& text, const std::string& file) {
  std::vector<std::set<std::string>> keys;  // of each object that is not closed yet
  std::string twice;
  const json::parser_callback_t see = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  try {
    json document = json::parse(text, see);
    if (!twice.empty()) throw UsageError(fmt::format("{}: the key '{}' is given twice in one object", file, twice));
    return document;
  } catch (const json::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: not JSON: {}", file, Position(text, error.byte), WithoutPlace(error)));
  }
}

}  // namespace evo
