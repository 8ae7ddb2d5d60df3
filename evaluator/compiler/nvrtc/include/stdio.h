// printf is built into NVRTC; a device has nothing else of stdio.h.
#pragma once
