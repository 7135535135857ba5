#include <tinymp/base/error.h>
#include <tinymp/train/run_state.h>

// In programs that save no run (quickstart, the lessons), in place of ../run_state.cpp and the checkpoints
// behind it.
namespace tinymp::train {
namespace {

void refuse() {
  throw MissingError("this program was built without checkpoints; ./learn train saves and resumes runs");
}

}  // namespace

RunStart begin_run(const Plan& plan, const std::string& log_path, const nn::Model& model, Optimizer&,
                   LossScaler&, const Float8Products&, data::Loader&) {
  if (!plan.resume.empty() || plan.saves) refuse();
  RunStart start{.recorded = {log_path, header_of(plan, model), {}, {}}};
  start.log.emplace(log_path, start.recorded.header);
  start.recorded.header = start.log->header();
  return start;
}

std::int64_t begin_alike(const Plan&, std::int64_t, const nn::Model&, Optimizer&, LossScaler&,
                         const Float8Products&, data::Loader&) {
  refuse();
  return 0;
}

void save_run(const std::string&, const CheckpointOwner&, const Checkpoint&) { refuse(); }

std::string weights_hash(const nn::Model&, const Optimizer&) {
  refuse();
  return "";
}

}  // namespace tinymp::train
