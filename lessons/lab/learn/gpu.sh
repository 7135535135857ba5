# Whether there is a GPU of NVIDIA's. Sourced by ./learn and tests/gpu/first_contact.sh.
# shellcheck shell=bash

gpu_parts() { # what shows one, a line each: cmake/Cuda.cmake asks for the same (dxg: WSL, nvmap: Jetson)
  local file
  for file in /dev/nvidiactl /dev/nvidia0 /dev/dxg /dev/nvmap /proc/driver/nvidia/version; do
    if [ -e "$file" ]; then echo "$file"; fi
  done
}

has_gpu() { [ -n "$(gpu_parts)" ]; }

gpu_answers() { # a driver may lie there without a GPU that works; some machines with one have no nvidia-smi
  if command -v nvidia-smi >/dev/null; then nvidia-smi -L 2>/dev/null | grep -q '^GPU '; else has_gpu; fi
}
