#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/evaluation.h"
#include "core/json_error.h"
#include "core/outcome.h"
#include "core/record_fields.h"

// JSON of described records, as workers and coordinator exchange it: an object with one key per field. NaN and an empty optional
// are null, an enumeration is its stable spelling. Reading throws JsonError for a field that is missing or of the
// wrong type, and std::invalid_argument for an unknown spelling.

template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) {
    if (value)
      out = *value;
    else
      out = nullptr;
  }
  static void from_json(const json& in, std::optional<T>& value) {
    if (in.is_null())
      value.reset();
    else
      value = in.get<T>();
  }
};

namespace evo {

void to_json(nlohmann::json& out, Outcome outcome);
void from_json(const nlohmann::json& in, Outcome& outcome);
void to_json(nlohmann::json& out, Stage stage);
void from_json(const nlohmann::json& in, Stage& stage);
void to_json(nlohmann::json& out, Bottleneck bottleneck);
void from_json(const nlohmann::json& in, Bottleneck& bottleneck);

template <DescribedRecord Record>
void to_json(nlohmann::json& out, const Record& record) {
  out = nlohmann::json::object();
  ForEachField(record, [&](const char* name, const auto& field) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(field)>>) {
      if (std::isnan(field)) {
        out[name] = nullptr;
        return;
      }
    }
    out[name] = field;
  });
}

template <DescribedRecord Record>
void from_json(const nlohmann::json& in, Record& record) {
  ForEachField(record, [&](const char* name, auto& field) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(field)>>) {
      if (Member(in, name).is_null()) {
        field = kNoValue;
        return;
      }
    }
    ReadMember(in, name, field);
  });
}

}  // namespace evo
