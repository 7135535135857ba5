#pragma once

#include <lessons/lab/learn/lab.h>
#include <memory>
#include <vector>

/// Ranks without MPI: threads of the lesson's process. A rank does the same as a process of mpirun; only the transport differs
/// (tinymp/dist/threads.h).
namespace tinymp::lab {

/// A model of each rank, by rank.
using Models = std::vector<std::unique_ptr<nn::Model>>;

/// Whether a run is shown on the page and counted in claims. The log of one that is not is removed.
enum class Report : std::uint8_t { yes, no };

/// Trains with so many ranks. The report has the run of rank 0. `models` receives what each rank has trained. Throws what a
/// rank throws: of several the one that did not merely lose another.
train::Run train_on_ranks(Lab& lab, train::Plan plan, int ranks, Models* models = nullptr,
                          Report report = Report::yes);

/// The weights of a model, bit by bit.
std::vector<std::uint8_t> bits_of(const nn::Model& model);
/// True when all models have the same bits.
bool are_one(const Models& models);

}  // namespace tinymp::lab
