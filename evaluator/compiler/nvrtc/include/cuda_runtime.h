// Takes the place of the toolkit's header, of which NVRTC has the device part built in and a kernel does not need the host part.
// What nvcc's implicit include of the header provides is in nvcc_implicit.h, which every kernel gets.
#pragma once
#include <float.h>
#include <nvcc_implicit.h>
#include <stddef.h>
#include <stdint.h>
