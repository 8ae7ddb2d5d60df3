#pragma once

#include "kernel_templates/dtype.h"

namespace evo {

// The C++ type of elements: "float", "__half".
const char* TypeName(Dtype dtype);

// The end of the driver's name for it in a tensor map: "FLOAT32" of CU_TENSOR_MAP_DATA_TYPE_FLOAT32.
const char* MapType(Dtype dtype);

}  // namespace evo
