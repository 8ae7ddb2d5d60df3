#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "db/history.h"
#include "story/words.h"

namespace evo {

// Words and JSON for the records of the history, in one place, so that all commands use the same.

// Where kernels are emulated.
inline constexpr const char* kEmulatedRemark =
    "kernels are emulated here: which of them is faster does not carry over to a GPU, whether they are right does";

// "4.640"; "-" if not known.
std::string Microseconds(double nanoseconds);
// "1.58"; "-" if not known.
std::string Ratio(double value);
// One line, at most `width` bytes, control characters and runs of white space as one space, the rest as CleanedLine gives it.
std::string OneLine(const std::string& text, std::size_t width);
// ", 1.82 times as long on other inputs (case r4096_c1024, generator 3)"; empty if all inputs take about as long, or if that is
// not known.
std::string Describe(const SlowestInputs& slowest);
// "verified (memcheck, racecheck clean), held-out ok (ragged, huge)", "held-out ok (ragged)", "not checked", "failed:
// wrong_result: ...".
std::string Verdict(const CandidateRecord& record);

// What a step of a lineage gained: ", +5.4%", ", 47.75 times the step before"; empty for NaN.
std::string DescribeGain(double gain);
// "512 GB/s, 12% of the machine's; 44.6 TFLOP/s, 70%"; "-" if nothing is known.
std::string Describe(const EfficiencyRow& row);
// "DRAM 4.25 TB/s, L2 6.10 TB/s, fp32 60.1 TFLOP/s, tensor cores 745 TFLOP/s, an empty kernel 0.83 us; SM 1980 of 1980 MHz, 45 C,
// 310 W".
std::string Describe(const MachineState& machine);

// Whether the run measured nothing and looked up what other runs had recorded; false if its options cannot be read.
bool IsReplay(const RunRecord& run);

// Whether it passed the held-out cases and at least one tool ran clean.
bool IsVerified(const CandidateRecord& record);

// One line for each edit; for a minimised champion also what was left of it, and what each edit is worth: how many times slower
// the kernel is without it.
void PrintEdits(std::FILE* out, const Candidate& candidate, const std::optional<MinimisedVariant>& minimised);
nlohmann::ordered_json ToJson(const MinimisedVariant& variant);

// How much faster than the baseline, with the two times of the same measurement: from the interleaved champion check where there
// is one, else from the two scores. What is not known is NaN.
struct Speedup {
  double value = kNoValue;
  bool from_check = false;
  double baseline_ns = kNoValue;
  double kernel_ns = kNoValue;
};
Speedup SpeedupOver(const std::optional<CandidateRecord>& baseline, const CandidateRecord& record);
// "1.449: 2.201 us, the baseline 3.190 us (re-timed, alternating with the baseline)".
std::string Describe(const Speedup& speedup);
// The table at the end of a run: baseline and best with the times of one measurement. If that is the champion's check, the times
// of the search follow.
void PrintResult(std::FILE* out, const std::optional<CandidateRecord>& baseline, const CandidateRecord& best);

// Without samples and source.
nlohmann::ordered_json ToJson(const ChampionCheck& check);
nlohmann::ordered_json ToJson(const CandidateRecord& record);
nlohmann::ordered_json ToJson(const RunSummary& run);
nlohmann::ordered_json ToJson(const std::vector<EfficiencyRow>& rows);
nlohmann::ordered_json ToJson(const std::vector<MachineState>& machines);
// One line a value, text that is not UTF-8 replaced, a line end at the end.
std::string Dump(const nlohmann::ordered_json& json);

}  // namespace evo
