#include "platform/free_memory.h"

#include <malloc.h>

namespace evo {

#ifdef __GLIBC__
void ShareOneHeap() { mallopt(M_ARENA_MAX, 1); }
void ReturnFreeMemory() { malloc_trim(0); }
#else
void ShareOneHeap() {}
void ReturnFreeMemory() {}
#endif

}  // namespace evo
