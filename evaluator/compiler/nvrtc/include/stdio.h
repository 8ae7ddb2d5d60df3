// printf is built into NVRTC; there is nothing else of stdio.h on a device.
#pragma once
