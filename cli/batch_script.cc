#include "cli/batch_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/executor.h"

namespace evo {
namespace {

using Words = std::vector<std::string>;

// Evo runs from a copy on its node, which is removed at the end. Several names may mean one node: a file that is there is taken
// as it is.
constexpr const char* kBroadcast = R"(# Each node gets the package, and gives it back.
set -e
evo={0}/evo-$SLURM_JOB_ID
OnEachNode() {{
  env -u SLURM_GPUS_PER_NODE -u SLURM_GPUS_PER_TASK srun -Q -N "$SLURM_JOB_NUM_NODES" -n "$SLURM_JOB_NUM_NODES" \
    -c1 --mem=0 --gres=none "$@"
}}
GiveBack() {{
  OnEachNode rm -rf "$evo" "$evo.sent" "$evo.tar"
}}
trap GiveBack EXIT
tar -C {1} -chf "$evo.tar" $(cd {1} && ls -d bin lib share 2>/dev/null)
sbcast --force "$evo.tar" "$evo.sent"
OnEachNode sh -c "mkdir -p '$evo' && tar -C '$evo' --skip-old-files -xf '$evo.sent'"
set +e
)";

// The shell waits for evo, since only it gets the signals of the batch system.
constexpr const char* kWait = R"(wait $!
status=$?
while kill -0 $! 2>/dev/null; do
  wait $!
  status=$?
done
)";

// SIGUSR1 announces the end of the job; SIGTERM comes from who cancels it, and at the end. In a job that waits again nothing of
// this one is left but the database.
constexpr const char* kBegin = R"(again=
trap 'again=yes' USR1
)";
constexpr const char* kGoOn = R"(# A job that was begun before goes on with its run: the latest of its database.
set -- {0}
if [ "${{SLURM_RESTART_COUNT:-0}}" -gt 0 ] && "$1" history --runs --db {1} >/dev/null 2>&1; then
  set -- {2}
fi
"$@" &
trap 'again=yes; kill -TERM $!' USR1
trap 'kill -TERM $!' TERM
[ -z "$again" ] || kill -TERM $!
)";
// evo's status where it was ended.
constexpr const char* kRequeue = R"([ -n "$again" ] && [ $status = 130 ] && scontrol requeue "$SLURM_JOB_ID"
)";

bool IsFlag(const std::string& word, const std::string& flag) { return word == flag || word.starts_with(flag + "="); }

// A run that goes on keeps its shapes.
Words Resumed(const Words& command) {
  if (std::any_of(command.begin(), command.end(), [](const std::string& word) { return IsFlag(word, "--resume"); }))
    return command;
  Words words;
  for (auto word = command.begin(); word != command.end(); ++word) {
    if (!IsFlag(*word, "--shape")) {
      words.push_back(*word);
    } else if (*word == "--shape" && word + 1 != command.end()) {
      ++word;
    }
  }
  words.emplace_back("--resume");
  return words;
}

// As a shell reads it; evo's own copy where there is one.
std::string CommandLine(const Words& command, bool from_copy) {
  Words words;
  for (const std::string& word : command) words.push_back(ShellQuoted(word));
  if (from_copy) words.front() = "\"$evo/bin/evo\"";
  return fmt::format("{}", fmt::join(words, " "));
}

std::string Body(const BatchJob& job) {
  const bool copied = job.broadcast.has_value();
  const std::string command = CommandLine(job.command, copied);
  if (!copied && !job.requeue) return fmt::format("exec {}\n", command);
  std::string text = job.requeue ? kBegin : "";
  if (copied) text += fmt::format(kBroadcast, ShellQuoted(job.broadcast->folder), ShellQuoted(job.broadcast->package));
  text += job.requeue ? fmt::format(kGoOn, command, ShellQuoted(job.database), CommandLine(Resumed(job.command), copied))
                      : fmt::format("{} &\ntrap \"kill -TERM $!\" TERM\n", command);
  text += kWait;
  if (job.requeue && copied) text += "trap '' TERM\ntrap - EXIT\nGiveBack\n";
  if (job.requeue) text += kRequeue;
  return text + "exit $status\n";
}

}  // namespace

std::string BatchScript(const BatchJob& job) {
  constexpr long kAround = 15 * 60;  // of starting, and of checking the champion
  const long minutes = (job.seconds.value_or(4L * 3600 - kAround) + kAround + 59) / 60;
  return fmt::format(
      "#!/bin/bash\n"
      "# Submit with `sbatch FILE`. Set nodes, GPUs, CPUs and time as you want them; evo takes what it gets.\n"
      "#SBATCH --job-name=evo\n"
      "#SBATCH --nodes=1\n"
      "#SBATCH --gpus-per-node=1\n"
      "#SBATCH --ntasks-per-node=1\n"
      "#SBATCH --cpus-per-task=8\n"
      "#SBATCH --time={}:{:02}:00\n"
      "# {}\n"
      "#SBATCH --signal=B:{}@60\n"
      "{}"
      "#SBATCH --no-kill\n"
      "{}",
      minutes / 60, minutes % 60,
      job.requeue ? "When its time is over, or its nodes are taken, the job goes on later."
                  : "A run that is ended by its time ends in order and goes on with `evo run --resume`.",
      job.requeue ? "USR1" : "TERM", job.requeue ? "#SBATCH --requeue\n#SBATCH --open-mode=append\n" : "", Body(job));
}

}  // namespace evo
