#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history.h"

namespace evo {

// The evidence of a champion check beyond its outcome, as lines with a heading each: for which sizes and inputs the kernel was
// shown right, what was left out and why, and how the search for counter-examples went. Empty if the check covered only the
// task's own cases. With `all`, every input is named; otherwise the inputs are counted.
struct EvidenceLine {
  std::string heading;  // "sizes"; empty for a line that continues the one before
  std::string text;
};
std::vector<EvidenceLine> DescribeEvidence(const ChampionCheck& check, bool all);

// The same, printed with the headings in a column of their own.
void PrintEvidence(std::FILE* out, const ChampionCheck& check, bool all);

// "case small: X: normal(0,1) | spike(200,511), seed 17", for a person who wants to draw it again; empty if there is none.
std::string Describe(const Counterexample& counterexample);

// Whether a candidate passed everything: the search's checks and those of a champion.
bool Passed(const CandidateRecord& record);

// The verdict about a candidate and its evidence: what was checked, on which inputs and sizes, how fast it is beside the
// baseline, and what each tool said. Hard inputs are counted; VerdictJson names them.
void PrintVerdict(std::FILE* out, const CandidateRecord& record);
// The same: verdict, passed, outcome, reason, evaluation and check.
nlohmann::ordered_json VerdictJson(const CandidateRecord& record);

}  // namespace evo
