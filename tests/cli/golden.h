#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace evo::testing {

// The text of EVO_GOLDEN_DIR/name. With EVO_UPDATE_GOLDEN=1 in the environment `text` is written there instead, to be read and
// committed by a person, and nullopt is returned.
inline std::optional<std::string> GoldenText(const std::string& name, const std::string& text) {
  const std::string path = std::string(EVO_GOLDEN_DIR) + "/" + name;
  if (std::getenv("EVO_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path << " is missing; run with EVO_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << file.rdbuf();
  return expected.str();
}

// Expects the same text.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const auto expected = GoldenText(name, text);
  if (expected) {
    EXPECT_EQ(text, *expected) << name;
  }
}

// Expects every key of `expected` with its value; `printed` may have more keys.
inline void ExpectKeys(const nlohmann::json& expected, const nlohmann::json& printed, const std::string& where) {
  if (expected.is_object() && printed.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (printed.contains(key))
        ExpectKeys(value, printed[key], where + "/" + key);
      else
        ADD_FAILURE() << where << "/" << key << " is missing";
    }
  } else if (expected.is_array() && printed.is_array() && expected.size() == printed.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i) ExpectKeys(expected[i], printed[i], where + "/" + std::to_string(i));
  } else {
    EXPECT_EQ(expected, printed) << where;
  }
}

// JSON and CSV are for scripts, which find values under their names: a new column of the database may add a name, but none may be
// lost or have another value.
inline void ExpectGoldenJson(const std::string& name, const std::string& text) {
  if (const auto expected = GoldenText(name, text))
    ExpectKeys(nlohmann::json::parse(*expected), nlohmann::json::parse(text), name);
}

// One map from heading to cell per row. Precondition: no cell contains a comma or the end of a line.
inline std::vector<std::map<std::string, std::string>> CsvRows(const std::string& text) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells{""};
    for (const char c : line) {
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    }
    return cells;
  };
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> headings = split(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = split(line);
    EXPECT_EQ(cells.size(), headings.size()) << line;
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size() && i < headings.size(); ++i) row[headings[i]] = cells[i];
  }
  return rows;
}

inline void ExpectGoldenCsv(const std::string& name, const std::string& text) {
  if (const auto expected = GoldenText(name, text)) ExpectKeys(CsvRows(*expected), CsvRows(text), name);
}

}  // namespace evo::testing
