#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "core/record_fields.h"

namespace evo::testing {

// Gives each field of described records a value that differs from its default and from those of the other fields, so that a round
// trip shows which field was lost or exchanged.
class Filler {
 public:
  template <typename Value>
  void Fill(Value& value) {
    if constexpr (DescribedRecord<Value>) {
      ForEachField(value, [this](const char*, auto& field) { Fill(field); });
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(static_cast<int>(value) == 3 ? 4 : 3);
    } else if constexpr (std::is_floating_point_v<Value>) {
      value = ++last_ + 0.1;  // not a short binary fraction
    } else if constexpr (std::is_integral_v<Value>) {
      value = static_cast<Value>(++last_);
    } else {
      FillContainer(value);
    }
  }

 private:
  void FillContainer(std::string& value) { value = "text " + std::to_string(++last_); }
  template <typename Value>
  void FillContainer(std::vector<Value>& values) {
    values.resize(2);
    for (Value& value : values) Fill(value);
  }
  template <typename Value>
  void FillContainer(std::map<std::string, Value>& values) {
    for (const char* key : {"first", "second"}) Fill(values[key]);
  }

  int last_ = 1000;
};

template <DescribedRecord Record>
Record Filled() {
  Record record;
  Filler().Fill(record);
  return record;
}

}  // namespace evo::testing
