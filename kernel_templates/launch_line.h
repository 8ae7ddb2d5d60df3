#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// A part of a launch line's text, given by its offsets.
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

// The parts of an evo:launch directive: kernel<template arguments>(arguments) clause...
struct LaunchLine {
  LaunchPart kernel;
  std::optional<LaunchPart> template_arguments;  // between < and >
  LaunchPart arguments;                          // between the parentheses
  std::vector<LaunchClause> clauses;

  const LaunchClause* Find(std::string_view name) const;
};

// Splits the line without interpreting the clauses. Throws Error, which says what is wrong but neither file nor line.
LaunchLine ParseLaunchLine(std::string_view text);

// Splits the clauses from offset `at` on. Throws Error.
std::vector<LaunchClause> ParseClauses(std::string_view text, std::size_t at);

// Splits at the commas outside of parentheses, brackets and braces, and trims the parts. A blank text has none.
std::vector<std::string> SplitAtCommas(std::string_view text);

}  // namespace evo
