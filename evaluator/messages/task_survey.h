#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/record_fields.h"

namespace evo {

// What a run worker finds out about a task itself, before any candidate. Values that are not known are kNoValue.

// One output of one case. Errors are the largest over the inputs of the case.
struct SurveyedOutput {
  std::string output;
  bool exact = false;  // compared bit by bit: there are no bounds
  double allowed_l2 = kNoValue;
  double allowed_max = kNoValue;
  double baseline_l2 = kNoValue;
  double baseline_max = kNoValue;
  double baseline_ratio = kNoValue;  // the larger of the two over its bound
  // Errors of mistakes, over what is allowed (evaluator/gate/omissions.h): of the block that is missed least, and of one term.
  double block_ratio = kNoValue;
  std::int64_t block = 0;   // its index
  std::int64_t blocks = 0;  // or parts of that size; see survey_task.cc
  double term_ratio = kNoValue;
  std::int64_t terms = 0;  // as the task states them; 0: it does not
};
BOOST_DESCRIBE_STRUCT(SurveyedOutput, (),
                      (output, exact, allowed_l2, allowed_max, baseline_l2, baseline_max, baseline_ratio, block_ratio, block,
                       blocks, term_ratio, terms))

struct SurveyedCase {
  std::string name;
  double bytes = 0;                // of all arguments
  double reference_ms = kNoValue;  // to write the inputs and to compute their answer, the longest
  double baseline_ms = kNoValue;   // one run, the longest
  std::int64_t inputs = 0;         // distributions that were looked at
  std::int64_t right = 0;          // of them, those on which the reference runs and the baseline, if there is one, is right
  std::vector<LeftOut> failures;   // distributions on which the reference or the baseline fails
  std::vector<SurveyedOutput> outputs;
};
BOOST_DESCRIBE_STRUCT(SurveyedCase, (), (name, bytes, reference_ms, baseline_ms, inputs, right, failures, outputs))

struct TaskSurvey {
  std::vector<SurveyedCase> cases;    // small, timed, held out: those of the device
  std::string lax;                    // why every check of the task is too lax to be worth a search; empty: it is not
  std::int64_t hard_inputs = 0;       // of the standard battery, on which the baseline is right
  std::vector<LeftOut> left_out;      // the others
  std::vector<std::string> not_seen;  // what there was no time for
};
BOOST_DESCRIBE_STRUCT(TaskSurvey, (), (cases, lax, hard_inputs, left_out, not_seen))

}  // namespace evo
