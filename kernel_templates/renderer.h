#pragma once

#include <optional>
#include <string>

#include "core/genome.h"
#include "kernel_templates/kernel_template.h"

namespace evo {

// Writes parameter values into the template's `#ifndef NAME / #define NAME value / #endif` blocks, and `#pragma nv_hdrstop` after
// the last #include, so that all parameter values share a precompiled header. This pragma is the only new line. Throws Error for
// a value that the template does not declare.
std::string RenderParameters(const std::string& text, const Parameters& parameters);

// Replaces one field in every launch line of a kernel. "before" writes a line `// evo:TEXT` before the last of them, "ahead"
// before the outermost loop around that; "removed" removes them, the workspaces that only they used and loops that are left
// empty; "unused" removes all workspaces that no line uses but those that fill them. "kernel" launches another kernel; which, is
// given there with its template arguments. Returns nullopt if the kernel has no launch line.
std::optional<std::string> RenderLaunchChange(const std::string& text, const LaunchChange& change);

}  // namespace evo
