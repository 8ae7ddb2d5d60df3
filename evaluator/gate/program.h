#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "kernel_templates/kernel_template.h"

namespace evo {

// Why a candidate does not pass: an outcome other than ok, and one line.
struct Failure {
  Outcome outcome = Outcome::kWrongResult;
  std::string message;
  bool sticky = false;  // the process that saw it must end
  // It is no fault of the candidate: the reference has no answer to these inputs.
  bool of_reference = false;
};

Failure ToFailure(const DeviceStatus& status);

// An image on a device.
struct LoadedImage {
  CompiledProgram compiled;
  std::unique_ptr<LoadedProgram> loaded;
  std::vector<Inspection> state;            // hashes of the image's own variables, without those that are filled
  std::vector<std::uint64_t> loaded_state;  // their values after loading; every launch must restore them
  // Where the variables of evo:constant lie, as in rendered.constants: each at every load address. They are written anew before
  // each run, so that they hand nothing on.
  std::vector<std::vector<DeviceRange>> filled;
};

// A rendered source with its images, on a device.
struct Program {
  KernelTemplate rendered;
  Parameters parameters;
  std::vector<LoadedImage> images;  // one, or several where sizes are compiled in
  // Images that the device cannot hold, such as one with too much local memory, with its reason. The first image is never here.
  std::vector<std::pair<SizeValues, Failure>> refused;

  // The image for these sizes; null if the program was not compiled for them, or the device cannot hold it. Valid as long as the
  // program.
  const LoadedImage* ImageFor(const Sizes& sizes) const;
  // Why these sizes have no image.
  Failure WhyNoImage(const Sizes& sizes) const;
};

// Digest of the image, and of the others with the values that are compiled in.
std::string ImageDigest(const CompiledProgram& program);

// `placements`: load addresses, as in Device::Load.
std::variant<Program, Failure> LoadProgram(Device& device, const std::string& source, CompiledProgram compiled,
                                           std::size_t placements = 1);

}  // namespace evo
