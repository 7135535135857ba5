#include <lessons/lab/learn/command_line.cpp>
#include <lessons/lab/learn/lesson_options.cpp>
