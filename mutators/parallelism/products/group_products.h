#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evo {

// Device functions for products of warp groups (wgmma), beside the building blocks of device_blocks.h: their texts follow from
// more than the type of elements.

// The function that copies a thread's part of a tile for such products, which calls kStartCopy and kCopyVector by these names.
std::string CopyPanelsText(std::string_view type, const std::string& name, const std::string& start_copy,
                           const std::string& copy_vector);
// How a factor of such a product lies in shared memory: neighbours go along k, or along the output's index, as those of bytes
// cannot. The left one may also be in registers, as mma has it.
enum class GroupFactor : std::uint8_t { kByK, kByIndex, kInRegisters };
inline GroupFactor OrderOf(bool by_k) { return by_k ? GroupFactor::kByK : GroupFactor::kByIndex; }

// The function that starts the product of 64 x 16 and 16 x `columns` elements, or of 32 if they are bytes; columns are 64, 128,
// 192 or 256. Functions of several widths overload each other.
std::string GroupProductText(std::string_view type, std::string_view type_b, const std::string& name, int columns, GroupFactor a,
                             GroupFactor b);

}  // namespace evo
