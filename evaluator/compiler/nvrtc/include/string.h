// memcpy and memset are built into NVRTC.
#pragma once
