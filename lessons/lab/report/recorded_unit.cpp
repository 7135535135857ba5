#include <lessons/lab/report/comparison_files.cpp>
#include <lessons/lab/report/csv_runs.cpp>
#include <lessons/lab/report/prediction_text.cpp>
#include <lessons/lab/report/recorded_table.cpp>
