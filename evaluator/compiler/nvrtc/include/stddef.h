// size_t, ptrdiff_t and NULL are built into NVRTC.
#pragma once
#include <cuda/std/cstddef>
