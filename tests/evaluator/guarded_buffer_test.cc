#include "evaluator/gate/guarded_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "evaluator/device/cpu/cpu_device.h"

namespace evo {
namespace {

class GuardedBufferTest : public ::testing::Test {
 protected:
  void Poke(const GuardedBuffer& buffer, std::ptrdiff_t offset) {
    std::byte value{};
    const Address at = buffer.address() + static_cast<Address>(offset);
    ASSERT_TRUE(memory_.Read({&value, 1}, at).ok());
    value ^= std::byte{1};
    ASSERT_TRUE(memory_.Write(at, {&value, 1}).ok());
  }

  std::unique_ptr<Device> device_ = MakeCpuDevice();
  DeviceMemory& memory_ = device_->memory();
};

TEST_F(GuardedBufferTest, GivesBackWhatItHolds) {
  GuardedBuffer buffer(memory_, 100, 1);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer.bytes(), 100U);
  EXPECT_EQ(buffer.address() % 256, 0U);
  const std::vector<std::byte> contents(100, std::byte{7});
  ASSERT_TRUE(buffer.Reset(&contents).ok());
  const GuardedBuffer::Contents read = buffer.Read();
  EXPECT_TRUE(read.status.ok());
  EXPECT_TRUE(read.guards_intact);
  EXPECT_EQ(read.bytes, contents);
}

TEST_F(GuardedBufferTest, ResetWithoutContentsLeavesThem) {
  GuardedBuffer buffer(memory_, 16, 1);
  const std::vector<std::byte> contents(16, std::byte{9});
  ASSERT_TRUE(buffer.Reset(&contents).ok());
  ASSERT_TRUE(buffer.Reset(nullptr).ok());
  EXPECT_EQ(buffer.Read().bytes, contents);
}

TEST_F(GuardedBufferTest, SeesEveryWriteOutside) {
  constexpr std::size_t kBytes = 100;
  GuardedBuffer buffer(memory_, kBytes, 1);
  for (const std::ptrdiff_t offset : {-1, -4, -4096, 100, 103, 100 + 4095}) {
    SCOPED_TRACE(offset);
    ASSERT_TRUE(buffer.Reset(nullptr).ok());
    ASSERT_TRUE(buffer.Read().guards_intact);
    Poke(buffer, offset);
    EXPECT_FALSE(buffer.Read().guards_intact);
  }
  for (const std::ptrdiff_t offset : {0, 99}) {
    ASSERT_TRUE(buffer.Reset(nullptr).ok());
    Poke(buffer, offset);
    EXPECT_TRUE(buffer.Read().guards_intact) << "inside";
  }
}

TEST_F(GuardedBufferTest, GuardsOfAnotherSeedDiffer) {
  GuardedBuffer one(memory_, 64, 1);
  GuardedBuffer two(memory_, 64, 2);
  ASSERT_TRUE(one.Reset(nullptr).ok());
  ASSERT_TRUE(two.Reset(nullptr).ok());
  std::vector<std::byte> first(64);
  std::vector<std::byte> second(64);
  ASSERT_TRUE(memory_.Read(first, one.address() + 64).ok());
  ASSERT_TRUE(memory_.Read(second, two.address() + 64).ok());
  EXPECT_NE(first, second);
}

TEST_F(GuardedBufferTest, MovedItIsTheSameBuffer) {
  GuardedBuffer first(memory_, 32, 1);
  const std::vector<std::byte> contents(32, std::byte{5});
  ASSERT_TRUE(first.Reset(&contents).ok());
  const Address address = first.address();
  const GuardedBuffer second(std::move(first));
  EXPECT_EQ(second.address(), address);
  EXPECT_TRUE(second.Read().guards_intact);
  EXPECT_EQ(second.Read().bytes, contents);
}

TEST_F(GuardedBufferTest, SaysWhenThereIsNoMemory) { EXPECT_FALSE(GuardedBuffer(memory_, std::size_t{1} << 60, 1).ok()); }

}  // namespace
}  // namespace evo
