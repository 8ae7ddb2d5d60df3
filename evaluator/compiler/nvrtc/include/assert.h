// assert is built into NVRTC.
#pragma once
