#include "evaluator/workers/job_queue.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

QueuedJob Named(const std::string& name) {
  QueuedJob queued;
  queued.job.request.header["name"] = name;
  return queued;
}

std::string PopName(JobQueue& queue) { return queue.Pop().job.request.header["name"]; }

// How often a job is taken back when each of its deaths comes with so many deaths of other jobs' workers.
int TakenBack(int others_each_time) {
  JobQueue queue;
  QueuedJob job = Named("ours");
  for (int times = 0;; ++times) {
    if (!queue.TakeBack(job)) return times;
    job = queue.Pop();
    for (int i = 0; i < others_each_time; ++i) {
      QueuedJob other = Named("other");
      EXPECT_TRUE(queue.TakeBack(other));
      queue.Pop();
    }
  }
}

TEST(JobQueue, AJobThatIsTakenBackIsTheNext) {
  JobQueue queue;
  queue.Push(Named("one"));
  queue.Push(Named("two"));
  QueuedJob first = queue.Pop();
  EXPECT_TRUE(queue.TakeBack(first));
  EXPECT_EQ(PopName(queue), "one");
  EXPECT_EQ(PopName(queue), "two");
  EXPECT_TRUE(queue.empty());
}

TEST(JobQueue, UrgentJobsGoFirstInTheirOrder) {
  JobQueue queue;
  for (const std::string name : {"one", "urgent", "two", "urgent as well"}) {
    QueuedJob job = Named(name);
    job.job.urgent = name.starts_with("urgent");
    queue.Push(std::move(job));
  }
  EXPECT_EQ(PopName(queue), "urgent");
  EXPECT_EQ(PopName(queue), "urgent as well");
  EXPECT_EQ(PopName(queue), "one");
  EXPECT_EQ(PopName(queue), "two");
}

TEST(JobQueue, AJobThatWasNotBegunIsTheNextAndIsNotCharged) {
  JobQueue queue;
  for (int times = 0; times < 100; ++times) queue.PutBack(times == 0 ? Named("ours") : queue.Pop());
  queue.Push(Named("other"));
  QueuedJob job = queue.Pop();
  EXPECT_EQ(job.job.request.header["name"], "ours");
  EXPECT_TRUE(queue.TakeBack(job));
}

TEST(JobQueue, IsSparedWhatWorkersWaitFor) {
  JobQueue queue;
  queue.BeginWait();
  queue.Push(Named("for the worker that waits"));
  EXPECT_FALSE(queue.HasSpare());
  queue.Push(Named("one more"));
  EXPECT_TRUE(queue.HasSpare());
  queue.Pop();
  EXPECT_FALSE(queue.HasSpare());
  queue.EndWait();
  EXPECT_TRUE(queue.HasSpare());
}

TEST(JobQueue, AJobThatAloneLosesItsWorkersIsToBlameInTheEnd) { EXPECT_EQ(TakenBack(0), 5); }

TEST(JobQueue, WhereAllLoseTheirWorkersNoJobIsToBlameForLong) { EXPECT_EQ(TakenBack(1), 20); }

TEST(JobQueue, DeathsBeforeItsOwnSayNothingOfAJob) {
  JobQueue queue;
  for (int i = 0; i < 100; ++i) {
    QueuedJob other = Named("other");
    EXPECT_TRUE(queue.TakeBack(other));
    queue.Pop();
  }
  QueuedJob job = Named("ours");
  int times = 0;
  for (; queue.TakeBack(job); ++times) job = queue.Pop();
  EXPECT_EQ(times, 5);
}

}  // namespace
}  // namespace evo
