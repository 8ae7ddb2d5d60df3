#include "cli/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

namespace evo {
namespace {

// What was left out for the same reason, together.
void AddLeftOut(std::vector<EvidenceLine>& lines, const std::vector<LeftOut>& left_out, bool all) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const LeftOut& one : left_out) by_reason[one.reason].push_back(one.what);
  for (const auto& [reason, what] : by_reason) {
    lines.push_back({lines.empty() || lines.back().heading != "left out" ? "left out" : "",
                     all || what.size() == 1 ? fmt::format("{}: {}", fmt::join(what, "; "), reason)
                                             : fmt::format("{} and {} more: {}", what.front(), what.size() - 1, reason)});
  }
}

}  // namespace

std::vector<EvidenceLine> DescribeEvidence(const ChampionCheck& check, bool all) {
  std::vector<EvidenceLine> lines;
  const VerifiedDomain& domain = check.domain;
  if (!domain.sizes.empty()) {
    lines.push_back({"sizes", all ? fmt::format("right at the task's own and at {}", fmt::join(domain.sizes, "; "))
                                  : fmt::format("right at the task's own and at {} others", domain.sizes.size())});
  }
  if (!domain.inputs.empty()) {
    lines.push_back({"inputs", all ? fmt::format("right on the task's generators and on {}", fmt::join(domain.inputs, "; "))
                                   : fmt::format("right on the task's generators and on {} hard ones", domain.inputs.size())});
  }
  AddLeftOut(lines, domain.left_out, all);
  if (check.adversary.inputs > 0) {
    const AdversaryEffort& effort = check.adversary;
    lines.push_back({"adversary", fmt::format("{} inputs tried{}", effort.inputs,
                                              std::isnan(effort.worst) ? ""
                                                                       : fmt::format(", the worst error {:.2g} of its bound ({})",
                                                                                     effort.worst, effort.worst_inputs))});
  }
  if (const std::string found = Describe(check.counterexample); !found.empty()) lines.push_back({"fails on", found});
  return lines;
}

void PrintEvidence(std::FILE* out, const ChampionCheck& check, bool all) {
  for (const EvidenceLine& line : DescribeEvidence(check, all)) fmt::print(out, "{:<11} {}\n", line.heading, line.text);
}

std::string Describe(const Counterexample& counterexample) {
  if (counterexample.case_name.empty()) return "";
  const std::string inputs =
      counterexample.inputs.empty() ? fmt::format("generator {}", counterexample.generator) : counterexample.inputs;
  return fmt::format("case {}: {}, seed {}", counterexample.case_name, inputs, counterexample.seed);
}

}  // namespace evo
