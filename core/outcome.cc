#include "core/outcome.h"

#include <algorithm>
#include <array>
#include <utility>

namespace evo {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 13> kOutcomes{{
    {Outcome::kOk, "ok"},
    {Outcome::kCompileError, "compile_error"},
    {Outcome::kResourceLimit, "resource_limit"},
    {Outcome::kUnsupported, "unsupported"},
    {Outcome::kLaunchError, "launch_error"},
    {Outcome::kCrash, "crash"},
    {Outcome::kTimeout, "timeout"},
    {Outcome::kWrongResult, "wrong_result"},
    {Outcome::kNondeterministic, "nondeterministic"},
    {Outcome::kCheating, "cheating"},
    {Outcome::kSlower, "slower"},
    {Outcome::kNoisy, "noisy"},
    {Outcome::kCancelled, "cancelled"},
}};

constexpr std::array<std::pair<Stage, std::string_view>, 10> kStages{{
    {Stage::kBreed, "breed"},
    {Stage::kRender, "render"},
    {Stage::kCompile, "compile"},
    {Stage::kMeasure, "measure"},
    {Stage::kPrepare, "prepare"},
    {Stage::kLoad, "load"},
    {Stage::kCheck, "check"},
    {Stage::kTime, "time"},
    {Stage::kReverify, "reverify"},
    {Stage::kHeldOut, "held_out"},
}};

template <typename Table, typename Value>
std::string_view NameOf(const Table& table, Value value) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.first == value; });
  return row->second;
}

template <typename Value, typename Table>
std::optional<Value> ValueOf(const Table& table, std::string_view name) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.second == name; });
  if (row == table.end()) return std::nullopt;
  return row->first;
}

}  // namespace

std::string_view ToString(Outcome outcome) { return NameOf(kOutcomes, outcome); }
std::string_view ToString(Stage stage) { return NameOf(kStages, stage); }
std::optional<Outcome> ParseOutcome(std::string_view text) { return ValueOf<Outcome>(kOutcomes, text); }
std::optional<Stage> ParseStage(std::string_view text) { return ValueOf<Stage>(kStages, text); }

}  // namespace evo
