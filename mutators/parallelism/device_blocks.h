#pragma once

#include <string>
#include <string_view>

#include "syntax/syntax_tree.h"

namespace evo {

// Building blocks: device functions that edits put before the kernel that uses them, so that a source has all that it needs in
// one file. They use nothing but what both devices have (docs/cpu_device.md): the cpu device runs the instructions of the inline
// PTX in them and checks their accesses. docs/writing_a_mutator.md lists them.
struct DeviceBlock {
  std::string_view name;
  // `Element` stands for a type, ELEMENT for its name in PTX, SIZE for its bytes, WIDTH and DEPTH for how many take 16 and 128
  // bytes; `Sum` for the type of sums, REGISTER for that of its registers in PTX.
  std::string_view text;
};

extern const DeviceBlock kCopyVector;        // 16 bytes from global to shared memory, asynchronously; needs cuda_pipeline.h
extern const DeviceBlock kLoadMatrices;      // 4 matrices of 8 rows of 16 bytes from shared memory
extern const DeviceBlock kLoadTransposed;    // the same, transposed
extern const DeviceBlock kMultiplyAdd;       // a product of 16 x 16 and 16 x 8 elements on tensor cores
extern const DeviceBlock kMultiplyAddBytes;  // the same of 16 x 32 and 32 x 8 elements of 8 bits, added up in int
extern const DeviceBlock kStoreVector;       // 8 elements from shared to global memory
extern const DeviceBlock kPack;              // two numbers as elements in one register, rounded to nearest
extern const DeviceBlock kPowerOfTwo;        // 2 to the power of x by one instruction

// Products of floats by three of tf32.
extern const DeviceBlock kSplit;            // a float as the sum of two numbers of tf32
extern const DeviceBlock kMultiplyAddTf32;  // a product of 16 x 8 and 8 x 8 elements on tensor cores

// Products of warp groups (wgmma), from tiles in shared memory in rows of 128 bytes. They need sm_90a.
extern const DeviceBlock kSwizzled;         // where 16 bytes lie in such a tile
extern const DeviceBlock kBelow;            // how many of some numbers are below a bound
extern const DeviceBlock kStartCopy;        // up to 16 bytes to shared memory, asynchronously
extern const DeviceBlock kDescribe;         // a tile's descriptor
extern const DeviceBlock kBeginProducts;    // before a batch
extern const DeviceBlock kCommitProducts;   // after it; waits for the batch before
extern const DeviceBlock kFinishProducts;   // waits for all
extern const DeviceBlock kShowTensorCores;  // after writes to shared memory, before a barrier

// Barriers in shared memory (mbarrier), each phase of which waits for arrivals and for bytes that copies bring.
extern const DeviceBlock kMakeBarrier;
extern const DeviceBlock kShowBarriers;  // to the copy engine and, after a barrier, to the other threads
extern const DeviceBlock kArriveAt;
extern const DeviceBlock kExpectBytes;
extern const DeviceBlock kWaitFor;

// What elements of 16 bits the building blocks know: "__half" and "__nv_bfloat16", as SyntaxNode::type spells them. Besides them
// kCopyVector and kLoadMatrices know "float" and bytes.
bool IsTensorElement(std::string_view type);
// "signed char" and "unsigned char". Whether a plain char has a sign depends on the machine.
bool IsTensorByte(std::string_view type);
// "int" and "unsigned int", where they stand for four such bytes.
bool IsTensorWord(std::string_view type);
bool IsOfBytes(std::string_view type);  // either of the two
// As the names of instructions spell it.
std::string_view PtxName(std::string_view type);
// How many elements take 16 bytes.
int VectorElements(std::string_view type);
// The type in which tensor cores add up products of such elements.
std::string SumName(std::string_view type);
// The block's text for elements of this type, by another name.
std::string BlockText(const DeviceBlock& block, std::string_view type, const std::string& name);

}  // namespace evo
