#pragma once

#include <sys/types.h>

#include <lessons/lab/classroom/sandbox.h>

namespace tinymp::classroom {

/// Starts `command` within `limits`, behind the fence of `sandbox`, in a session of its own: it has no
/// terminal, and the whole session can be ended at once. Its only open files are 0, 1, 2 and 3: it reads `in`
/// from 0, writes `out` on 1 and 2, and writes `answer` on 3. Throws lab::CannotStart.
pid_t start_fenced(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox,
                   const lab::Pipe& in, const lab::Pipe& out, const lab::Pipe& answer);

}  // namespace tinymp::classroom
