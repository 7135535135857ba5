#include <lessons/learn/commands/commands.h>
#include <array>

namespace tinymp::lab {
namespace {

constexpr std::array<Command, 4> all = {{
    {"quickstart", "quickstart", "two questions about FP16, answered by training", quickstart},
    {"run", "run N", "the experiment of lesson N", run_command},
    {"train", "train", "one training run of your own", train_command},
    {"compare", "compare RUN", "table, curves and page over recorded runs", compare},
}};

}  // namespace

std::span<const Command> commands() { return all; }

}  // namespace tinymp::lab
