#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The JSON library says "[json.exception.type_error.302] type must be number, but is string" and not where. What a user reads of
// it comes from here.
namespace evo {

// What is wrong with a member of a JSON value, and where: "edits[2].op: must be a string, not a number".
class JsonError : public nlohmann::json::exception {
 public:
  // `path`: of the member, empty for the whole value.
  JsonError(std::string path, std::string what);
  // The same error as what contains the member sees it.
  JsonError Below(const std::string& name) const;
  JsonError Below(std::size_t index) const;

 private:
  std::string path_;
  std::string wrong_;
};

// The message of an exception; in plain words if it is one of the JSON library. Of a text that is no JSON it names line and
// column.
std::string PlainText(const std::exception& error);

// The same without the place.
std::string WithoutPlace(const nlohmann::json::parse_error& error);

// "a list", "an object", "a number" and so on.
std::string KindOf(const nlohmann::json& value);

// The member of an object. Throws JsonError.
const nlohmann::json& Member(const nlohmann::json& object, const char* name);

// A whole number of the type, where the JSON library would cut off a fraction and turn what is too large into something else.
// Throws JsonError.
template <typename T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void ReadJson(const nlohmann::json& in, T& value) {
  if (!in.is_number()) throw JsonError("", "must be a whole number, not " + KindOf(in));
  if (!in.is_number_integer()) throw JsonError("", "must be a whole number in range, not " + in.dump());
  const bool fits =
      in.is_number_unsigned() ? std::in_range<T>(in.get<std::uint64_t>()) : std::in_range<T>(in.get<std::int64_t>());
  if (!fits) throw JsonError("", in.dump() + " is out of range");
  value = in.get<T>();
}

// Reads a value as `get_to` does. What is wrong inside of it is thrown as JsonError.
template <typename T>
requires(!std::is_integral_v<T> || std::is_same_v<T, bool>) void ReadJson(const nlohmann::json& in, T& value) {
  try {
    in.get_to(value);
  } catch (const JsonError&) {
    throw;
  } catch (const nlohmann::json::exception& error) {
    throw JsonError("", PlainText(error));
  }
}

template <typename T>
requires(!std::is_same_v<T, bool>) void ReadJson(const nlohmann::json& in, std::vector<T>& values) {
  if (!in.is_array()) throw JsonError("", "must be a list, not " + KindOf(in));
  values.assign(in.size(), T());
  for (std::size_t i = 0; i < in.size(); ++i) {
    try {
      ReadJson(in[i], values[i]);
    } catch (const JsonError& error) {
      throw error.Below(i);
    }
  }
}

template <typename T>
void ReadJson(const nlohmann::json& in, std::map<std::string, T>& values) {
  if (!in.is_object()) throw JsonError("", "must be an object, not " + KindOf(in));
  values.clear();
  for (const auto& [name, value] : in.items()) {
    try {
      ReadJson(value, values[name]);
    } catch (const JsonError& error) {
      throw error.Below(name);
    }
  }
}

// Reads a member of an object. Throws JsonError if it is missing or of another kind.
template <typename T>
void ReadMember(const nlohmann::json& object, const char* name, T& value) {
  const nlohmann::json& member = Member(object, name);
  try {
    ReadJson(member, value);
  } catch (const JsonError& error) {
    throw error.Below(name);
  }
}

}  // namespace evo
