#pragma once

#include <memory>
#include <string>

#include "evaluator/compiler/compiler.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// A compile worker: answers a CompileRequest with a CompileResult. The image comes from `main`. Where `check` is given, the
// source must compile there too, so that a kernel of the cpu device is also valid CUDA for `arch`, and a second image has every
// memory access checked. A candidate's directives are parsed here, never in the coordinator.
class CompileRole : public WorkerRole {
 public:
  CompileRole(std::unique_ptr<Compiler> main, std::unique_ptr<Compiler> check)
      : main_(std::move(main)), check_(std::move(check)), checks_accesses_(check_ != nullptr) {}
  Message Handle(const Message& job, WorkerChannel& channel) override;

 private:
  std::unique_ptr<Compiler> main_;
  std::unique_ptr<Compiler> check_;
  bool checks_accesses_;
};

}  // namespace evo
