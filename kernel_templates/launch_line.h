#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// Part of a launch line's text, by offsets.
struct LaunchPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view Of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// `grid(...)` or the bare word `cooperative`.
struct LaunchClause {
  std::string name;
  LaunchPart whole;
  std::optional<LaunchPart> inside;  // between the parentheses
};

// The text of an evo:launch directive, taken apart: kernel<template arguments>(arguments) clause...
struct LaunchLine {
  LaunchPart kernel;
  std::optional<LaunchPart> template_arguments;  // between < and >
  LaunchPart arguments;                          // between the parentheses
  std::vector<LaunchClause> clauses;

  const LaunchClause* Find(std::string_view name) const;
};

// Knows nothing of what the clauses mean. Throws Error: what is wrong, without file or line.
LaunchLine ParseLaunchLine(std::string_view text);

// The clauses from `at` on. Throws Error.
std::vector<LaunchClause> ParseClauses(std::string_view text, std::size_t at);

// Parts between commas outside of parentheses, brackets and braces, trimmed; none for a blank text.
std::vector<std::string> SplitAtCommas(std::string_view text);

}  // namespace evo
