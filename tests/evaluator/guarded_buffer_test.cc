#include "evaluator/gate/guarded_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "evaluator/device/cpu/cpu_device.h"
#include "tests/evaluator/fake_device.h"

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

  std::vector<std::byte> ContentsOf(const GuardedBuffer& buffer) {
    std::vector<std::byte> contents;
    EXPECT_TRUE(buffer.Read(contents).ok());
    return contents;
  }

  bool Intact(const GuardedBuffer& buffer, bool contents = false) {
    std::vector<Inspection> inspections;
    buffer.AppendInspections(inspections, contents);
    const Inspected inspected = device_->Inspect(inspections);
    EXPECT_TRUE(inspected.status.ok());
    return std::all_of(inspected.results.begin(), inspected.results.end(),
                       [](const InspectionResult& r) { return r.different == 0; });
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
  EXPECT_TRUE(Intact(buffer));
  EXPECT_EQ(ContentsOf(buffer), contents);
}

TEST_F(GuardedBufferTest, ResetWithoutContentsLeavesThem) {
  GuardedBuffer buffer(memory_, 16, 1);
  const std::vector<std::byte> contents(16, std::byte{9});
  ASSERT_TRUE(buffer.Reset(&contents).ok());
  ASSERT_TRUE(buffer.Reset(nullptr).ok());
  EXPECT_EQ(ContentsOf(buffer), contents);
}

TEST_F(GuardedBufferTest, SeesEveryWriteOutside) {
  constexpr std::size_t kBytes = 100;
  GuardedBuffer buffer(memory_, kBytes, 1);
  for (const std::ptrdiff_t offset : {-1, -4, -4096, 100, 103, 100 + 4095}) {
    SCOPED_TRACE(offset);
    ASSERT_TRUE(buffer.Reset(nullptr).ok());
    ASSERT_TRUE(Intact(buffer));
    Poke(buffer, offset);
    EXPECT_FALSE(Intact(buffer));
    ASSERT_TRUE(buffer.Restore().ok());
    EXPECT_TRUE(Intact(buffer));
  }
  for (const std::ptrdiff_t offset : {0, 99}) {
    Poke(buffer, offset);
    EXPECT_TRUE(Intact(buffer)) << "inside";
  }
}

TEST_F(GuardedBufferTest, WithACopySeesAndRestoresChangesOfTheContents) {
  const std::vector<std::byte> contents(1000, std::byte{7});
  GuardedBuffer buffer(memory_, contents.size(), 1, GuardedBuffer::Copy::kGuardsAndContents);
  ASSERT_TRUE(buffer.Reset(&contents).ok());
  for (const std::ptrdiff_t offset : {-1, 0, 500, 999, 1000}) {
    SCOPED_TRACE(offset);
    EXPECT_TRUE(Intact(buffer, true));
    Poke(buffer, offset);
    EXPECT_FALSE(Intact(buffer, true));
    EXPECT_EQ(Intact(buffer, false), offset >= 0 && offset < 1000) << "guards alone";
    ASSERT_TRUE(buffer.Restore().ok());
  }
  EXPECT_EQ(ContentsOf(buffer), contents);
  std::vector<std::byte> copy(contents.size());
  ASSERT_TRUE(memory_.Read(copy, buffer.copied_contents()).ok());
  EXPECT_EQ(copy, contents);
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

TEST_F(GuardedBufferTest, GuardsReachToTheEndOfTheUnit) {
  FakeDevice device("cuda");
  device.layout.unit_bytes = 1 << 16;
  GuardedBuffer buffer(device.memory(), 100, 1, GuardedBuffer::Copy::kGuardsAndContents);
  std::vector<Inspection> inspections;
  EXPECT_EQ(buffer.AppendInspections(inspections, true), 4U);
  // The guards, the contents and their copy are all of it.
  std::size_t all = buffer.bytes();
  for (const Inspection& one : inspections) all += one.bytes;
  EXPECT_EQ(all, std::size_t{1} << 16);
  const std::vector<std::byte> contents(100, std::byte{7});
  ASSERT_TRUE(buffer.Reset(&contents).ok());
  const Address last = inspections[2].address + inspections[2].bytes - 1;
  EXPECT_EQ(InspectHere(inspections[2]).different, 0U);
  reinterpret_cast<unsigned char&>(*reinterpret_cast<char*>(last)) ^= 1;
  EXPECT_EQ(InspectHere(inspections[2]).different, 1U);
}

TEST_F(GuardedBufferTest, ForAToolTheAllocationHasTheExactSize) {
  FakeDevice device("cuda");
  device.layout.guard_bytes = 0;
  GuardedBuffer buffer(device.memory(), 100, 1, GuardedBuffer::Copy::kGuardsAndContents);
  ASSERT_TRUE(buffer.ok());
  const std::vector<std::byte> contents(100, std::byte{7});
  ASSERT_TRUE(buffer.Reset(&contents).ok());
  EXPECT_EQ(ContentsOf(buffer), contents);
  std::vector<Inspection> inspections;
  EXPECT_EQ(buffer.AppendInspections(inspections, true), 1U);
  EXPECT_EQ(inspections.front().bytes, 100U);
  EXPECT_NE(buffer.copied_contents(), 0U);
}

TEST_F(GuardedBufferTest, MovedItIsTheSameBuffer) {
  GuardedBuffer first(memory_, 32, 1);
  const std::vector<std::byte> contents(32, std::byte{5});
  ASSERT_TRUE(first.Reset(&contents).ok());
  const Address address = first.address();
  const GuardedBuffer second(std::move(first));
  EXPECT_EQ(second.address(), address);
  EXPECT_TRUE(Intact(second));
  EXPECT_EQ(ContentsOf(second), contents);
}

TEST_F(GuardedBufferTest, SaysWhenThereIsNoMemory) { EXPECT_FALSE(GuardedBuffer(memory_, std::size_t{1} << 60, 1).ok()); }

}  // namespace
}  // namespace evo
