#include "cli/input_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/finder.hpp>
#include <boost/algorithm/string/iter_find.hpp>
#include <utility>

namespace evo {
namespace {

constexpr std::string_view kUsual = "normal(0,1) | ";

// What was left out in one case only ends with its name.
constexpr std::string_view kCase = " with ";

struct Group {
  std::vector<std::string> arguments;
  std::string place;  // " with ragged", or empty
  std::vector<std::string> programs;
};

// The arguments of a text and the program that all of them have; no program if they have different ones.
Group Read(const std::string& text) {
  Group read;
  const std::size_t end = std::min(text.rfind(kCase), text.size());
  read.place = text.substr(end);
  std::vector<std::string> parts;
  boost::algorithm::iter_split(parts, text.substr(0, end), boost::algorithm::first_finder(" ; "));
  for (const std::string& part : parts) {
    const std::size_t colon = part.find(": ");
    if (colon == std::string::npos) return {};
    read.arguments.push_back(part.substr(0, colon));
    std::string program = part.substr(colon + 2);
    if (program.starts_with(kUsual)) program.erase(0, kUsual.size());
    if (read.programs.empty())
      read.programs.push_back(std::move(program));
    else if (read.programs.front() != program)
      return {};
  }
  return read;
}

}  // namespace

std::vector<std::string> GroupInputs(const std::vector<std::string>& programs) {
  std::vector<Group> groups;
  std::vector<std::string> others;
  for (const std::string& text : programs) {
    Group read = Read(text);
    if (read.programs.empty()) {
      others.push_back(text);
      continue;
    }
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.arguments == read.arguments && group.place == read.place;
    });
    if (same == groups.end())
      groups.push_back(std::move(read));
    else
      same->programs.push_back(std::move(read.programs.front()));
  }
  std::vector<std::string> lines;
  for (const Group& group : groups)
    lines.push_back(fmt::format("{}{}: {}", fmt::join(group.arguments, " and "), group.place, fmt::join(group.programs, ", ")));
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}

}  // namespace evo
