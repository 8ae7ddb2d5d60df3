#pragma once

#include <optional>
#include <string>

#include "core/genome.h"
#include "kernel_templates/kernel_template.h"

namespace evo {

// Puts parameter values into the template's `#ifndef NAME / #define NAME value / #endif` blocks, in place, and `#pragma
// nv_hdrstop` after the last #include (so that precompiled headers are shared between parameter values). Line numbers stay but
// for that one. Throws Error for a value that the template does not declare.
std::string RenderParameters(const std::string& text, const Parameters& parameters);

// Replaces one field of the launch lines of a kernel. nullopt if no launch line of that kernel exists.
std::optional<std::string> RenderLaunchChange(const std::string& text, const LaunchChange& change);

}  // namespace evo
