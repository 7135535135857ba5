#pragma once

#include <sys/types.h>

#include <lessons/lab/classroom/sandbox.h>

namespace tinymp::classroom {

/// Starts `command` within `limits`, behind the fence of `sandbox`, in a session of its own: no terminal, and
/// all of it can be ended at once. It has the files 0, 1, 2 and 3 and no other: it reads `in`, writes `out`,
/// also as its messages, and writes `answer`. Throws lab::CannotStart.
pid_t start_fenced(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox,
                   const lab::Pipe& in, const lab::Pipe& out, const lab::Pipe& answer);

}  // namespace tinymp::classroom
