#include "evaluator/workers/worker_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/record_json.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

WorkerIdentity On(const std::string& host, const std::string& uuid) {
  WorkerIdentity worker{host, "1.0", {}};
  worker.device.name = "NVIDIA H200";
  worker.device.arch = "sm_90a";
  worker.device.memory_bytes = 141UL << 30;
  worker.device.driver = "580.1";
  worker.device.uuid = uuid;
  return worker;
}

std::string Refusal(const std::vector<WorkerIdentity>& workers, bool mixed = false) {
  try {
    RequireAlike(workers, mixed);
    RequireApart(workers);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(WorkerIdentity, WorkersOfOneKindAreAccepted) { EXPECT_EQ(Refusal({On("a", "GPU-1"), On("b", "GPU-2")}), ""); }

TEST(WorkerIdentity, BothHostsAndTheDifferenceAreNamed) {
  WorkerIdentity other = On("b", "GPU-2");
  other.device.driver = "570.2";
  EXPECT_THAT(Refusal({On("a", "GPU-1"), other}), HasSubstr("a has the driver 580.1, b has 570.2"));
  other = On("b", "GPU-2");
  other.device.name = "NVIDIA H100";
  EXPECT_THAT(Refusal({On("a", "GPU-1"), other}), HasSubstr("a has the device NVIDIA H200, b has NVIDIA H100"));
  other = On("b", "GPU-2");
  other.device.memory_bytes = 80UL << 30;
  EXPECT_THAT(Refusal({On("a", "GPU-1"), other}), HasSubstr("memory 141.0 GiB, b has 80.0 GiB"));
  other = On("b", "GPU-2");
  other.build = "1.1";
  EXPECT_THAT(Refusal({On("a", "GPU-1"), other}), HasSubstr("build of evo 1.0, b has 1.1"));
  EXPECT_EQ(Refusal({On("a", "GPU-1"), other}, true), "");
}

TEST(WorkerIdentity, OneGpuForTwoWorkersIsRefused) {
  EXPECT_THAT(Refusal({On("a", "GPU-1"), On("a", "GPU-1")}, true), HasSubstr("two run workers have the same GPU, GPU-1 on a:"));
  EXPECT_EQ(Refusal({On("a", ""), On("a", "")}), "") << "the cpu device has none";
}

TEST(WorkerIdentity, IsInTheFirstMessage) {
  nlohmann::json ready = Introduction("1.0");
  ready["device"] = On("a", "GPU-1").device;
  const WorkerIdentity identity = IdentityIn(ready);
  EXPECT_FALSE(identity.host.empty());
  EXPECT_THAT(identity.build, HasSubstr("1.0 ("));
  EXPECT_EQ(identity.device.uuid, "GPU-1");
  EXPECT_THROW(IdentityIn(nlohmann::json::object()), Error);
}

}  // namespace
}  // namespace evo
