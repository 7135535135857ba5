#include <tinymp/train/finding_text.cpp>
#include <tinymp/train/log_json.cpp>
#include <tinymp/train/run_log.cpp>
#include <tinymp/train/run_log_reader.cpp>
#include <tinymp/train/run_log_resume.cpp>
