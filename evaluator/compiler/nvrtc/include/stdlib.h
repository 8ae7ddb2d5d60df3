// What device code uses of stdlib.h (abs, and malloc, which evo refuses) is built into NVRTC.
#pragma once

#ifndef RAND_MAX
#define RAND_MAX 2147483647
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif
