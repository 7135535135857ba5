#pragma once

#include <kernels/emu/options.h>
#include <lessons/02_matmul/mlp.h>
#include <lessons/lab/learn/lab.h>

/// What lesson 02 shows besides its curves.
namespace tinymp::lab {

using kernels::emu::machine::ThreadOrder;

/// Sets the order in which the threads of a block take their turns.
void use_order(ThreadOrder order);

/// Shared memory holds what the last block left there. This leaves zeros, as if the GPU had just been
/// switched on. So a kernel that reads unwritten memory reads the same values in each run.
void clear_shared_memory(Kernel kernel);

/// One product by each rung of the ladder, against sums in float64. True when all agree.
bool show_ladder(Lab& lab);

/// The kernel of this lesson with its barrier and without, in three orders of threads. True when it is right
/// in all of them with it, and without it in reverse order only.
bool show_orders(Lab& lab);

/// Runs race_02, the kernel without its barrier under ThreadSanitizer, and prints the report in short.
void name_the_race(Lab& lab);

}  // namespace tinymp::lab
