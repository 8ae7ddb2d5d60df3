#pragma once

namespace evo {

// For a program that makes a large thing now and then, and each time on another thread: all threads take memory from one heap, so
// that what one has freed is there for the next. Call it before threads start. Does nothing where the C library cannot do it.
void ShareOneHeap();

// Gives freed memory back to the system, also that between what is in use. Takes milliseconds.
void ReturnFreeMemory();

}  // namespace evo
