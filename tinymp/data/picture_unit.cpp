#include <tinymp/data/digit.cpp>
#include <tinymp/data/digit_ink.cpp>
#include <tinymp/data/picture.cpp>
#include <tinymp/data/picture_folder.cpp>
#include <tinymp/data/picture_header.cpp>
#include <tinymp/data/picture_input.cpp>
#include <tinymp/data/picture_jpeg.cpp>
#include <tinymp/data/resize.cpp>
