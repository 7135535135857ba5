#pragma once

#include <lessons/lab/learn/lab.h>
#include <memory>

/// Ranks without MPI: threads of the lesson's process. A rank does the same as a process of mpirun; only the transport differs
/// (tinymp/dist/threads.h).
namespace tinymp::lab {

/// Trains with so many ranks. The report has the run of rank 0, and `keep` receives its model. Throws what a rank throws: of
/// several the one that did not merely lose another.
train::Run train_on_ranks(Lab& lab, train::Plan plan, int ranks, std::unique_ptr<nn::Model>* keep = nullptr);

}  // namespace tinymp::lab
