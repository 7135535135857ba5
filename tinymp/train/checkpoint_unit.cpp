#include <tinymp/train/checkpoint.cpp>
#include <tinymp/train/checkpoint_model.cpp>
#include <tinymp/train/checkpoint_plan.cpp>
#include <tinymp/train/checkpoint_tensors.cpp>
#include <tinymp/train/load_weights.cpp>
#include <tinymp/train/run_state.cpp>
#include <tinymp/train/safetensors.cpp>
#include <tinymp/train/safetensors_reader.cpp>
