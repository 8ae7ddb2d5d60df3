#include "evaluator/device/scalar_bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace evo {
namespace {

std::uint64_t Bits(Dtype dtype, Number value) {
  const auto bytes = ToBytes({dtype, value});
  EXPECT_TRUE(bytes);
  std::uint64_t bits = 0;
  if (bytes) std::memcpy(&bits, bytes->bytes.data(), bytes->size);
  return bits;
}

TEST(ScalarBytes, SizesAndValues) {
  EXPECT_EQ(Bits(Dtype::kI32, Number::Integer(-1)), 0xffffffffu);
  EXPECT_EQ(ToBytes({Dtype::kI64, Number::Integer(-1)})->size, 8u);
  EXPECT_EQ(Bits(Dtype::kU8, Number::Integer(255)), 255u);
  EXPECT_EQ(Bits(Dtype::kF32, Number::Real(1.0)), 0x3f800000u);
  EXPECT_EQ(Bits(Dtype::kF32, Number::Integer(2)), 0x40000000u);
  EXPECT_EQ(Bits(Dtype::kF64, Number::Real(1.0)), 0x3ff0000000000000u);
  EXPECT_EQ(Bits(Dtype::kF16, Number::Real(1.0)), 0x3c00u);
  EXPECT_EQ(Bits(Dtype::kBF16, Number::Real(1.0)), 0x3f80u);
  EXPECT_EQ(ToBytes({Dtype::kF16, Number::Real(1)})->size, 2u);
  EXPECT_EQ(Bits(Dtype::kI32, Number::Real(7.0)), 7u);
}

TEST(ScalarBytes, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(ToBytes({Dtype::kI32, Number::Integer(1LL << 31)}));
  EXPECT_TRUE(ToBytes({Dtype::kU32, Number::Integer(1LL << 31)}));
  EXPECT_FALSE(ToBytes({Dtype::kU64, Number::Integer(-1)}));
  EXPECT_FALSE(ToBytes({Dtype::kI8, Number::Integer(-129)}));
  EXPECT_FALSE(ToBytes({Dtype::kI32, Number::Real(1.5)}));
  EXPECT_FALSE(ToBytes({Dtype::kI64, Number::Real(1e300)}));
  EXPECT_FALSE(ToBytes({Dtype::kI64, Number::Real(std::nan(""))}));
}

TEST(ScalarBytes, FieldsOfAStructLieAsTheCompilerPutsThem) {
  struct Fields {
    std::uint8_t flag;
    const void* pointer;
    std::int32_t count;
    double value;
    std::uint16_t last;
  };
  const auto bytes = ArgumentBytes(
      DeviceStruct{{ScalarUse{Dtype::kU8, Number::Integer(1)}, Address{0x1234}, ScalarUse{Dtype::kI32, Number::Integer(-2)},
                    ScalarUse{Dtype::kF64, Number::Real(0.5)}, ScalarUse{Dtype::kU16, Number::Integer(7)}}});
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), sizeof(Fields));
  Fields fields{};
  std::memcpy(&fields, bytes->data(), sizeof fields);
  EXPECT_EQ(fields.flag, 1);
  EXPECT_EQ(reinterpret_cast<Address>(fields.pointer), 0x1234U);
  EXPECT_EQ(fields.count, -2);
  EXPECT_EQ(fields.value, 0.5);
  EXPECT_EQ(fields.last, 7);
  EXPECT_FALSE(ArgumentBytes(DeviceStruct{{ScalarUse{Dtype::kI8, Number::Integer(300)}}}));
  EXPECT_FALSE(ArgumentBytes(DeviceTensorMap{})) << "the device makes it";
}

}  // namespace
}  // namespace evo
