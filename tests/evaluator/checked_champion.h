#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/scheduling/champion_checker.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {

inline constexpr std::chrono::milliseconds kCheckDeadline{1234};

inline JobResult CompiledImage(const std::string& image) {
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.program.image = image;
  return FakeJobRunner::Reply(ToMessage(result));
}

inline JobResult Passed() {
  ChampionCheck check;
  check.outcome = Outcome::kOk;
  check.speedup = 1.5;
  return FakeJobRunner::Reply(ToReply(check));
}

// Hands out runners with the given answers, one after the other and the last again and again, and keeps what they were asked.
class FakeFreshWorkers : public FreshWorkers, public ChampionTools {
 public:
  explicit FakeFreshWorkers(std::vector<JobResult> answers) : answers_(std::move(answers)) {}

  std::unique_ptr<JobRunner> StartRunner(const Seeds& given) override {
    class Recorder : public ScriptedJobRunner {
     public:
      Recorder(JobResult answer, std::vector<Job>& seen) : ScriptedJobRunner({std::move(answer)}), seen_(seen) {}
      void Submit(Job job, Done done) override {
        seen_.push_back(job);
        ScriptedJobRunner::Submit(std::move(job), std::move(done));
      }

     private:
      std::vector<Job>& seen_;
    };
    seeds.push_back(given);
    if (while_measuring) while_measuring();
    return std::make_unique<Recorder>(answers_[std::min(jobs.size(), answers_.size() - 1)], jobs);
  }

  ToolRun SampleBlocks(const std::string&, const Seeds&, const std::stop_token& stop) override {
    return sample_blocks ? sample_blocks(stop) : ToolRun{{"sampled blocks", "clean", ""}};
  }

  std::vector<ToolRun> RunSanitizer(const AttachedProgram& program, const Seeds& given, const std::stop_token&) override {
    ++sanitizer_runs;
    EXPECT_EQ(program.program.image, expected_image);
    EXPECT_EQ(given.size(), kPoolSeeds);
    std::vector<ToolRun> runs;
    for (const ToolResult& tool : tools) runs.push_back({tool});
    return runs;
  }

  CountedEvents CountEvents(const AttachedProgram& program, const std::string& text, const Seeds&,
                            const std::stop_token&) override {
    EXPECT_EQ(program.program.image, expected_image);
    text_of_lines = text;
    if (while_counting) while_counting();
    return counted;
  }

  std::string expected_image = "candidate's";
  std::string text_of_lines;
  std::function<ToolRun(const std::stop_token&)> sample_blocks;
  std::function<void()> while_measuring;
  std::function<void()> while_counting;
  CountedEvents counted;
  std::vector<ToolResult> tools;
  std::vector<Seeds> seeds;
  std::vector<Job> jobs;
  int sanitizer_runs = 0;

 private:
  std::vector<JobResult> answers_;
};

struct Checked {
  explicit Checked(JobResult answer, std::vector<ToolResult> tools = {}, bool pauses_compilers = false)
      : Checked(std::vector<JobResult>{std::move(answer)}) {
    workers.tools = std::move(tools);
    pauses = pauses_compilers;
  }
  explicit Checked(std::vector<JobResult> answers)
      : compile({CompiledImage("candidate's"), CompiledImage("baseline's"), CompiledImage("candidate's")}),
        workers(std::move(answers)) {}
  ChampionCheck Check() {
    Candidate candidate;
    candidate.source = "candidate";
    candidate.unproven_edits = unproven_edits;
    const Candidate baseline{.source = "baseline"};
    const ChampionChecker checker(compile, workers, has_tools ? &workers : nullptr, "sm_90a", pauses);
    ChampionCheck check = checker.CheckAnswers(candidate, baseline, {}, effort, kCheckDeadline, {});
    if (check.outcome == Outcome::kOk) checker.RunTools(candidate, check, {});
    return check;
  }
  int unproven_edits = 0;
  CheckEffort effort{2.5, 4};
  ScriptedJobRunner compile;
  FakeFreshWorkers workers;
  bool pauses = false;
  bool has_tools = true;
  std::function<void(std::size_t number)> on_compile;
};

}  // namespace evo
