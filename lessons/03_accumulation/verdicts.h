#pragma once

#include <lessons/03_accumulation/inference.h>
#include <lessons/03_accumulation/sums.h>
#include <lessons/03_accumulation/trainings.h>

/// The verdicts and claims of lesson 03.
namespace tinymp::lab {

/// May FP16 sum it? Judged by how `narrow` ends, beside `wide`.
void give_verdict(Lab& lab, const std::string& question, const Curve& wide, const Curve& narrow);

void claim_arithmetic(Lab& lab, const DotErrors& dots);
/// `error`: of show_first_batch().
void claim_mean(Lab& lab, double error);
void claim_nan(Lab& lab, const char* what, const std::string& question, const Curve& curve);
/// Claims that two curves end within `allowed` points, on every seed.
void claim_same(Lab& lab, const char* what, const std::string& question, const Curve& a, const Curve& b,
                double allowed);

/// A row of a table, and the claim that the answers of `model` survive.
void show_answers(Lab& lab, const char* model, const Answers& answers);
void claim_answers(Lab& lab, const char* model, const Answers& answers);

}  // namespace tinymp::lab
