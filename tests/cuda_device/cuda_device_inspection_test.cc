// Needs a GPU. Elsewhere the program starts and every test fails with what is missing.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/half.h"
#include "tests/cuda_device/cuda_device_bench.h"

namespace evo {
namespace {

// An output of `count` elements and its reference, which differ here and there; some of either are not finite.
struct Compared {
  Dtype dtype;
  std::vector<std::byte> output;
  std::vector<double> reference;
};

template <typename Stored, bool kFloating, typename Convert>
Compared Differing(Dtype dtype, std::size_t count, Convert convert) {
  std::mt19937 random(static_cast<unsigned>(dtype) + 1);
  std::vector<Stored> output(count);
  std::vector<double> reference(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(random() % 100);
    output[i] = static_cast<Stored>(convert(value));
    reference[i] = random() % 7 == 0 ? value + 0.25 : value;
    if constexpr (kFloating) {
      if (i % 997 == 5) output[i] = convert(std::numeric_limits<float>::quiet_NaN());
      if (i % 499 == 7) reference[i] = std::numeric_limits<double>::infinity();
    }
  }
  const auto bytes = std::as_bytes(std::span(output));
  return {dtype, {bytes.begin(), bytes.end()}, reference};
}

std::vector<Compared> OfEveryDtype(std::size_t count) {
  const auto same = [](float v) { return v; };
  return {Differing<double, true>(Dtype::kF64, count, same),
          Differing<float, true>(Dtype::kF32, count, same),
          Differing<std::uint16_t, true>(Dtype::kF16, count, ToHalfBits),
          Differing<std::uint16_t, true>(Dtype::kBF16, count, ToBFloat16Bits),
          Differing<std::int64_t, false>(Dtype::kI64, count, same),
          Differing<std::int32_t, false>(Dtype::kI32, count, same),
          Differing<std::int16_t, false>(Dtype::kI16, count, same),
          Differing<std::int8_t, false>(Dtype::kI8, count, same),
          Differing<std::uint64_t, false>(Dtype::kU64, count, same),
          Differing<std::uint32_t, false>(Dtype::kU32, count, same),
          Differing<std::uint16_t, false>(Dtype::kU16, count, same),
          Differing<std::uint8_t, false>(Dtype::kU8, count, same)};
}

void ExpectSame(const InspectionResult& device, const InspectionResult& host) {
  EXPECT_EQ(device.different, host.different);
  EXPECT_EQ(device.first, host.first);
  EXPECT_EQ(device.largest, host.largest);
  EXPECT_EQ(device.worst, host.worst);
  EXPECT_EQ(device.hash, host.hash);
  EXPECT_NEAR(device.squares, host.squares, 1e-9 * host.squares);
  EXPECT_NEAR(device.reference_squares, host.reference_squares, 1e-9 * host.reference_squares);
}

TEST_F(CudaDeviceTest, InspectsAsTheHostDoes) {
  DeviceMemory& memory = device_->memory();
  // Not a multiple of anything, and more than one block has to look at.
  for (const Compared& one : OfEveryDtype(100'003)) {
    const Address output = memory.Allocate(one.output.size());
    const Address reference = memory.Allocate(one.reference.size() * sizeof(double));
    ASSERT_TRUE(memory.Write(output, one.output).ok());
    ASSERT_TRUE(memory.Write(reference, std::as_bytes(std::span(one.reference))).ok());
    for (const bool exact : {false, true}) {
      SCOPED_TRACE(fmt::format("{} exact {}", ToString(one.dtype), exact));
      const std::vector<Inspection> on_device = {
          {Inspection::Kind::kOutput, output, reference, one.output.size(), one.dtype, exact},
          {Inspection::Kind::kHash, output, 0, one.output.size()},
          {Inspection::Kind::kEqual, output + 1, reference + 3, 4095}};
      std::vector<Inspection> on_host = on_device;
      const auto at_output = reinterpret_cast<std::uint64_t>(one.output.data());
      const auto at_reference = reinterpret_cast<std::uint64_t>(one.reference.data());
      on_host[0].address = on_host[1].address = at_output;
      on_host[0].other = at_reference;
      on_host[2].address = at_output + 1;
      on_host[2].other = at_reference + 3;
      const Inspected inspected = device_->Inspect(on_device);
      ASSERT_TRUE(inspected.status.ok()) << inspected.status.message;
      ASSERT_EQ(inspected.results.size(), on_host.size());
      for (std::size_t i = 0; i < on_host.size(); ++i) ExpectSame(inspected.results[i], InspectHere(on_host[i]));
    }
    memory.Free(output);
    memory.Free(reference);
  }
}

TEST_F(CudaDeviceTest, InspectionsThatAreBegunSeeWhatWasThereThen) {
  constexpr std::size_t kBytes = 300'000;
  DeviceMemory& memory = device_->memory();
  const Address at = memory.Allocate(kBytes);
  // More of them than results fit into the memory that the device writes.
  constexpr std::size_t kTimes = 1500;
  const std::vector<Inspection> look = {{Inspection::Kind::kHash, at, 0, kBytes}, {Inspection::Kind::kHash, at, 0, 16}};
  for (std::size_t i = 0; i < kTimes; ++i) {
    Preparation preparation;
    preparation.poison.push_back({at, kBytes, {i % 3, true}});
    ASSERT_TRUE(device_->Prepare(preparation).ok());
    ASSERT_TRUE(device_->BeginInspection(look).ok());
  }
  const Inspected seen = device_->CollectInspections();
  ASSERT_TRUE(seen.status.ok()) << seen.status.message;
  ASSERT_EQ(seen.results.size(), look.size() * kTimes);
  for (std::size_t i = 0; i < seen.results.size(); ++i) {
    EXPECT_EQ(seen.results[i].hash, seen.results[i % 6].hash) << i;
    EXPECT_EQ(seen.results[i].hash == seen.results[(i + 2) % seen.results.size()].hash, false) << i;
  }
  EXPECT_TRUE(device_->CollectInspections().results.empty());
  memory.Free(at);
}

}  // namespace
}  // namespace evo
