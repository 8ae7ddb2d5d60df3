#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/messages/requests.h"
#include "evaluator/workers/worker_main.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// A compile worker: answers a CompileRequest with a CompileResult. The image comes from `main`. If `check` is given, candidates
// must pass it, too, so that what runs on the cpu device is also valid CUDA for `arch`, and a second image checks every access.
// A candidate's directives are read here, never in the coordinator: since a LaunchLimitsRequest, what cannot be launched is not
// compiled. A source with sizes compiled in gets the images that the request asks for. On a full disk it waits for room, then
// answers that the machine has failed.
class CompileRole : public WorkerRole {
 public:
  // Compiles what the user gets of a kernel.
  using ExportCompiler = std::function<CompileResult(const ExportRequest&)>;

  // How long a worker waits for room on a full disk: less than the deadline of a job.
  static constexpr std::chrono::milliseconds kMostWait{10'000};

  // `exporter` may be empty if no ExportRequest comes.
  CompileRole(std::unique_ptr<Compiler> main, std::unique_ptr<Compiler> check, ExportCompiler exporter = {},
              std::chrono::milliseconds most_wait = kMostWait)
      : main_(std::move(main)),
        check_(std::move(check)),
        exporter_(std::move(exporter)),
        checks_accesses_(check_ != nullptr),
        most_wait_(most_wait) {}
  Message Handle(const Message& job, WorkerChannel& channel) override;

 private:
  struct LaunchLimits {
    Task task;
    DeviceInfo device;
  };
  CompileResult Compile(const CompileRequest& request, WorkerChannel& channel);
  CompileResult CompileImages(const CompileRequest& request, const KernelTemplate& rendered, WorkerChannel& channel);
  std::vector<Sizes> Launchable(const KernelTemplate& rendered, const ImageSizes& sizes) const;
  // Of one image, where the device runs no CUDA.
  struct Wanted {
    bool valid_cuda = false;        // the source must pass `check`
    bool checked_accesses = false;  // a second image
  };
  CompileResult CompileImage(const CompilerInput& input, const Wanted& wanted);

  std::optional<LaunchLimits> limits_;
  std::unique_ptr<Compiler> main_;
  std::unique_ptr<Compiler> check_;
  ExportCompiler exporter_;
  bool checks_accesses_;
  std::chrono::milliseconds most_wait_;
};

}  // namespace evo
