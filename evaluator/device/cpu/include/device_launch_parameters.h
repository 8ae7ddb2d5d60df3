#pragma once

// The prelude has everything of it that device code uses.
