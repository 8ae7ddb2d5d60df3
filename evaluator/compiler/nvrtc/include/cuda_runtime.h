// Stands before the toolkit's own, of which NVRTC has the device part built in: the half that a host compiler would see is left
// out. What nvcc's implicit include brings along (sizes, limits, INFINITY) comes here too.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
