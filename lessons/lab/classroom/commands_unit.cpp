#include <lessons/lab/classroom/ask.cpp>
#include <lessons/lab/classroom/check.cpp>
#include <lessons/lab/classroom/collect.cpp>
#include <lessons/lab/classroom/grade.cpp>
#include <lessons/lab/classroom/help.cpp>
#include <lessons/lab/classroom/homework.cpp>
#include <lessons/lab/classroom/mine.cpp>
#include <lessons/lab/classroom/watch.cpp>
