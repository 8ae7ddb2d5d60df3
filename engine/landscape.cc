#include "engine/landscape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"

namespace evo {
namespace {

using Fields = std::vector<std::string>;

// Longer lists of columns are cut in messages.
constexpr std::size_t kNamedColumns = 20;

std::optional<double> Number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const bool sign = text.size() > 1 && text[0] == '+' && text[1] != '-';  // which from_chars does not read
  const auto parsed = std::from_chars(text.data() + sign, end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

// The number that a value stands for. Words such as "nan" and "inf" are words.
std::optional<double> FiniteNumber(const std::string& text) {
  const auto value = Number(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string Trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Fields Split(const std::string& line, char separator) {
  Fields fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == separator && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  for (std::string& field : fields) field = Trimmed(field);
  return fields;
}

char Separator(const std::string& heading) {
  for (const char c : {',', ';', '\t'}) {
    if (heading.find(c) != std::string::npos) return c;
  }
  return ',';
}

std::string Listed(const Fields& names) {
  if (names.size() <= kNamedColumns) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kNamedColumns, ", "),
                     names.size() - kNamedColumns);
}

void RequireNames(const Fields& heading, const std::string& where) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < heading.size(); ++i) {
    if (heading[i].empty()) throw UsageError(fmt::format("{}: column {} of the heading has no name; give it one", where, i + 1));
    const auto [same, fresh] = first.emplace(heading[i], i);
    if (fresh) continue;
    throw UsageError(fmt::format("{}: columns {} and {} are both called '{}'; give each a name of its own", where,
                                 same->second + 1, i + 1, heading[i]));
  }
}

// The indices of the columns in a row.
struct Places {
  std::vector<std::size_t> parameters;
  std::optional<std::size_t> status;
  std::size_t score = 0;
};

Places Find(const Fields& heading, const std::string& name, const LandscapeColumns& columns) {
  const auto place = [&](const std::string& column) -> std::optional<std::size_t> {
    const auto found = std::find(heading.begin(), heading.end(), column);
    return found == heading.end() ? std::nullopt : std::optional<std::size_t>(found - heading.begin());
  };
  const auto required = [&](const std::string& column, const char* option) {
    if (const auto found = place(column)) return *found;
    throw UsageError(
        fmt::format("{}: no column '{}' among {}; name the right one with {}", name, column, Listed(heading), option));
  };
  Places places;
  places.score = required(columns.score, "--score");
  places.status = place(columns.status);
  for (const std::string& parameter : columns.parameters) places.parameters.push_back(required(parameter, "--parameters"));
  if (columns.parameters.empty()) {
    const std::size_t end = std::min(places.score, places.status.value_or(places.score));
    for (std::size_t i = 0; i < end; ++i) places.parameters.push_back(i);
  }
  if (places.parameters.empty()) {
    throw UsageError(
        fmt::format("{}: no column stands before '{}', so there is no parameter; name the parameters with --parameters", name,
                    heading.front()));
  }
  return places;
}

// The parameter with the values that occur. Adds the index of each row's value to `levels`, unless there is one value only.
LandscapeParameter Enumerate(const std::string& name, const std::vector<Fields>& rows, std::size_t column,
                             std::vector<std::vector<int>>& levels) {
  std::set<std::string> words;
  for (const Fields& row : rows) words.insert(row[column]);
  LandscapeParameter parameter{name, {}, FeatureKind::kCategorical};
  if (std::all_of(words.begin(), words.end(), [](const std::string& word) { return FiniteNumber(word).has_value(); }))
    parameter.kind = FeatureKind::kOrdinal;
  // What tells values apart: 1 and 1.0 are one number, but two words.
  std::map<std::pair<double, std::string>, int> level;
  const auto key = [&](const std::string& word) {
    return parameter.kind == FeatureKind::kOrdinal ? std::pair(*FiniteNumber(word), std::string()) : std::pair(0.0, word);
  };
  std::map<std::pair<double, std::string>, std::string> spelled;
  for (const Fields& row : rows) spelled.emplace(key(row[column]), row[column]);
  for (const auto& [value, word] : spelled) {
    level[value] = static_cast<int>(parameter.values.size());
    parameter.values.push_back(word);
  }
  if (parameter.values.size() < 2) return parameter;
  for (std::size_t i = 0; i < rows.size(); ++i) levels[i].push_back(level.at(key(rows[i][column])));
  return parameter;
}

// The score of a row; not a number if the point failed. `where` is the row's place in messages.
double ScoreOf(const Fields& row, const Places& places, const std::string& where, const LandscapeColumns& columns) {
  const std::string& spelled = row[places.score];
  const auto score = Number(spelled);
  // Without a status, an empty score or one that is no finite number says that the point failed.
  const bool ok = places.status ? row[*places.status] == columns.ok : !(spelled.empty() || (score && !std::isfinite(*score)));
  if (ok && !(score && std::isfinite(*score) && *score > 0)) {
    throw UsageError(fmt::format("{}: {} is '{}', which is no positive number; correct it, or {}", where, columns.score, spelled,
                                 places.status ? "give the line another status" : "leave it empty if the point failed"));
  }
  return ok ? *score : std::numeric_limits<double>::quiet_NaN();
}

// The rows of a text with their scores, and with their line numbers for messages.
struct Table {
  Fields heading;
  Places places;
  std::vector<Fields> rows;
  std::vector<double> scores;
  std::vector<int> lines;
};

Table ReadTable(std::istream& text, const std::string& name, const LandscapeColumns& columns) {
  Table table;
  char separator = ',';
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.find('\0') != std::string::npos)
      throw UsageError(fmt::format("{}:{}: this is no text; give a file of comma separated values", name, number));
    if (Trimmed(line).empty() || line.front() == '#') continue;
    if (table.heading.empty()) {
      separator = Separator(line);
      table.heading = Split(line, separator);
      RequireNames(table.heading, fmt::format("{}:{}", name, number));
      table.places = Find(table.heading, name, columns);
      continue;
    }
    Fields fields = Split(line, separator);
    if (fields.size() != table.heading.size()) {
      throw UsageError(fmt::format("{}:{}: {} fields where the heading has {}; complete the line or remove it", name, number,
                                   fields.size(), table.heading.size()));
    }
    table.scores.push_back(ScoreOf(fields, table.places, fmt::format("{}:{}", name, number), columns));
    table.rows.push_back(std::move(fields));
    table.lines.push_back(number);
  }
  if (table.heading.empty())
    throw UsageError(fmt::format("{}: it is empty; give a heading and one line for each point measured", name));
  return table;
}

void RequireDistinct(const std::vector<std::vector<int>>& levels, const Table& table, const std::string& name) {
  std::map<std::vector<int>, int> first;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto [same, fresh] = first.emplace(levels[i], table.lines[i]);
    if (!fresh) {
      throw UsageError(
          fmt::format("{}:{}: the same parameters as in line {}; keep one of the two, or name all parameters with --parameters",
                      name, table.lines[i], same->second));
    }
  }
}

std::vector<double> DivisibilityOf(const LandscapeParameter& parameter) {
  const auto values = WholeValues(parameter);
  if (!values || !DivisibilityTells(*values)) return {};
  std::vector<double> times;
  for (const std::int64_t value : *values) times.push_back(TimesDivisibleByTwo(value));
  const double most = *std::max_element(times.begin(), times.end());
  for (double& one : times) one /= most;
  return times;
}

}  // namespace

std::optional<std::vector<std::int64_t>> WholeValues(const LandscapeParameter& parameter) {
  constexpr double kLargest = 9007199254740992.0;  // 2^53: up to there every whole number is a double
  if (parameter.kind != FeatureKind::kOrdinal) return std::nullopt;
  std::vector<std::int64_t> whole;
  for (const std::string& text : parameter.values) {
    const auto value = FiniteNumber(text);
    if (!value || *value != std::floor(*value) || std::abs(*value) > kLargest) return std::nullopt;
    whole.push_back(static_cast<std::int64_t>(*value));
  }
  return whole;
}

std::vector<FeatureKind> Landscape::Kinds() const {
  std::vector<FeatureKind> kinds;
  for (const LandscapeParameter& parameter : parameters) kinds.push_back(parameter.kind);
  for (const std::vector<double>& of_levels : divisibility) {
    if (!of_levels.empty()) kinds.push_back(FeatureKind::kOrdinal);
  }
  return kinds;
}

Features Landscape::At(std::size_t point) const {
  Features features;
  for (std::size_t d = 0; d < parameters.size(); ++d) {
    const double level = levels[point][d];
    const bool ordinal = parameters[d].kind == FeatureKind::kOrdinal;
    features.push_back(ordinal ? level / static_cast<double>(parameters[d].values.size() - 1) : level);
  }
  for (std::size_t d = 0; d < parameters.size(); ++d) {
    if (!divisibility[d].empty()) features.push_back(divisibility[d][static_cast<std::size_t>(levels[point][d])]);
  }
  return features;
}

Landscape MakeLandscape(std::vector<LandscapeParameter> parameters, std::vector<std::vector<int>> levels,
                        std::vector<double> scores) {
  Landscape landscape{
      std::move(parameters), std::move(levels), std::move(scores), {}, std::numeric_limits<double>::infinity(), {}};
  for (const LandscapeParameter& parameter : landscape.parameters) landscape.divisibility.push_back(DivisibilityOf(parameter));
  for (std::size_t i = 0; i < landscape.size(); ++i) {
    landscape.index.emplace(landscape.levels[i], i);
    if (landscape.scores[i] < landscape.optimum) landscape.optimum = landscape.scores[i];
  }
  return landscape;
}

Landscape ReadLandscape(std::istream& text, const std::string& name, const LandscapeColumns& columns) {
  Table table = ReadTable(text, name, columns);
  if (std::all_of(table.scores.begin(), table.scores.end(), [](double score) { return std::isnan(score); })) {
    const std::string remedy =
        table.places.status ? fmt::format(": no {} is '{}' (--status and --ok say otherwise)", columns.status, columns.ok) : "";
    throw UsageError(
        fmt::format("{}: none of its {} points is ok{}; a search needs one at least", name, table.rows.size(), remedy));
  }
  std::vector<LandscapeParameter> parameters;
  std::vector<std::vector<int>> levels(table.rows.size());
  for (const std::size_t column : table.places.parameters) {
    LandscapeParameter parameter = Enumerate(table.heading[column], table.rows, column, levels);
    if (parameter.values.size() > 1) parameters.push_back(std::move(parameter));
  }
  RequireDistinct(levels, table, name);
  return MakeLandscape(std::move(parameters), std::move(levels), std::move(table.scores));
}

}  // namespace evo
