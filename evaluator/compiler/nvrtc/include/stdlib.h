// What device code uses of stdlib.h (abs, and malloc, which evo refuses) is built into NVRTC.
#pragma once
