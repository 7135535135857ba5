#include <lessons/lab/learn/commands/commands.h>
#include <array>

namespace tinymp::lab {
namespace {

constexpr std::array<Command, 18> all = {{
    {"quickstart", quickstart_command},
    {"run", run_command},
    {"train", train_command},
    {"explain", explain_command},
    {"verify-all", verify_all},
    {"compare", compare},
    {"clinic", clinic_command},
    {"check", check_command},
    {"watch", exercise_command},
    {"hint", exercise_command},
    {"solution", exercise_command},
    {"reset", exercise_command},
    {"question", exercise_command},
    {"grade", exercise_command},
    {"collect", exercise_command},
    {"tensor-core", tensor_core_command},
    {"bench", measure_command},
    {"gpu-check", measure_command},
}};

}  // namespace

std::span<const Command> commands() { return all; }

}  // namespace tinymp::lab
