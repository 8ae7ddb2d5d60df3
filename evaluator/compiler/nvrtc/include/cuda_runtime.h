// Takes the place of the toolkit's header, of which NVRTC has the device part built in and a kernel does not need the host part.
// It includes what nvcc's implicit include of the header provides: sizes, limits and INFINITY.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
