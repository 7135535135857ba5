#include <tinymp/nn/deep_mlp.cpp>
#include <tinymp/nn/language_model.cpp>
#include <tinymp/nn/layers.cpp>
#include <tinymp/nn/lenet.cpp>
#include <tinymp/nn/norm.cpp>
#include <tinymp/nn/resnet.cpp>
#include <tinymp/nn/transformer.cpp>
