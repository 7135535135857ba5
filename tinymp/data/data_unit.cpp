#include <tinymp/data/cifar.cpp>
#include <tinymp/data/dataset.cpp>
#include <tinymp/data/gzip.cpp>
#include <tinymp/data/idx.cpp>
#include <tinymp/data/loader.cpp>
#include <tinymp/data/split.cpp>
#include <tinymp/data/text.cpp>
#include <tinymp/data/text_examples.cpp>
