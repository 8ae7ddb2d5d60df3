#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kArray = "  __shared__ float t[128];\n  float s = 0;\n";
const std::string kFill = "    t[threadIdx.x] = in[i + threadIdx.x];\n";
const std::string kBufferUse = "    s += t[127 - threadIdx.x];\n";
const std::string kMeet = "    __syncthreads();\n";
const std::string kLoop = "  for (int i = 0; i < n; i += 128) {\n";
const std::string kEnd = "  }\n  out[threadIdx.x] = s;\n";

TEST(DoubleBuffer, FillsOneBufferWhileTheOtherIsUsed) {
  const std::string expected =
      "  __shared__ float t[2][128];\n  float s = 0;\n"
      "  {\n    int buffer = 0;\n"
      "    if (0 < n) {\n      const int i = 0;\n      t[buffer][threadIdx.x] = in[i + threadIdx.x];\n    }\n"
      "    for (int i = 0; i < n; i += 128) {\n      __syncthreads();\n"
      "      if (i + 128 < n) {\n        t[buffer ^ 1][threadIdx.x] = in[(i + 128) + threadIdx.x];\n      }\n"
      "      s += t[buffer][127 - threadIdx.x];\n      buffer ^= 1;\n    }\n"
      "    __syncthreads();\n  }\n  out[threadIdx.x] = s;\n";
  EXPECT_THAT(Bodies("double_buffer", kArray + kLoop + kFill + kMeet + kBufferUse + kMeet + kEnd), ElementsAre(expected));
  EXPECT_THAT(Bodies("double_buffer", kArray + kLoop + kMeet + kFill + kMeet + kBufferUse + kEnd), ElementsAre(expected));
}

TEST(DoubleBuffer, WaitsForAsynchronousCopies) {
  const std::string body = kArray + kLoop + "    __pipeline_memcpy_async(&t[threadIdx.x], &in[i + threadIdx.x], 4);\n" +
                           "    __pipeline_commit();\n    __pipeline_wait_prior(0);\n" + kMeet + kBufferUse + kMeet + kEnd;
  const auto children = ChildrenOf("double_buffer", "#include <cuda_pipeline.h>\n" + PlainKernel(body));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(
      children[0],
      HasSubstr("    }\n    __pipeline_commit();\n    for (int i = 0; i < n; i += 128) {\n      __pipeline_wait_prior(0);\n"
                "      __syncthreads();\n"));
  EXPECT_THAT(children[0], HasSubstr("      }\n      __pipeline_commit();\n      s += t[buffer]"));
}

TEST(DoubleBuffer, LeavesLoopsThatItDoesNotUnderstand) {
  for (const std::string& body : {
           kArray + kLoop + kFill + kMeet + kBufferUse + kEnd,                               // one barrier only
           kArray + kLoop + kFill + kMeet + kBufferUse + kMeet + kBufferUse + kMeet + kEnd,  // a third barrier
           kArray + kLoop + kFill + kMeet + kBufferUse + "    t[0] = s;\n" + kMeet + kEnd,   // the use writes, too
           kArray + kLoop + "    t[threadIdx.x] = in[i] + s;\n" + kMeet + kBufferUse + kMeet +
               kEnd,  // the fill reads what the use changes
           kArray + kLoop + "    t[threadIdx.x] = out[i];\n" + kMeet + kBufferUse + kMeet +
               kEnd,  // the fill reads what other threads may change
           kArray + kLoop + "    const float v = in[i];\n    t[threadIdx.x] = v;\n" + kMeet + "    s += v;\n" + kMeet + kEnd,
           kArray + kLoop + "    t[threadIdx.x] += in[i];\n" + kMeet + kBufferUse + kMeet + kEnd,  // the fill reads the array
           kArray + kLoop + kFill + kMeet + kBufferUse + kMeet + "  }\n  out[threadIdx.x] = s + t[0];\n",  // used after the loop
           "  if (threadIdx.x > n) return;\n" + kArray + kLoop + kFill + kMeet + kBufferUse + kMeet + kEnd,
           "  __shared__ float t[8000];\n  float s = 0;\n" + kLoop + kFill + kMeet + kBufferUse + kMeet + kEnd,
       }) {
    EXPECT_THAT(Bodies("double_buffer", body), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
