#include <lessons/lab/report/csv_runs.h>
#include <lessons/lab/report/run_fields.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <fstream>

using namespace tinymp;
using namespace tinymp::report;

namespace {

struct Table {
  files::Folder folder;
  std::string path = folder / "table.csv";
  explicit Table(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  std::vector<Run> runs(const std::string& metric = "") const { return csv_runs(path, metric); }
  std::string complaint() const {
    return files::message<Error>([&] { csv_runs(path); });
  }
};

}  // namespace

TEST_CASE("a table of steps and losses is a run") {
  const std::vector<Run> runs = Table("step,loss\n1,2.5\n2,nan\n4,1e999\n").runs();
  REQUIRE(runs.size() == 1);
  const Run& run = runs[0];
  CHECK(run.header.name == "table");
  CHECK(run_field(run, "recipe") == "unknown");
  CHECK(run_field(run, "seed").empty());
  REQUIRE(run.steps.size() == 3);
  CHECK(run.steps[0].step == 1);
  CHECK(run.steps[0].loss == 2.5);
  CHECK(run.steps[0].scale == 1);
  CHECK(std::isnan(run.steps[1].loss));
  CHECK(std::isinf(run.steps[2].loss));
  CHECK(std::isnan(run.steps[0].grad_norm));
  REQUIRE(run.result);
  CHECK(run.header.metric == "training loss");
  CHECK(run.result->first_nonfinite_step == 2);
  CHECK(std::isnan(run.result->seconds));
}

TEST_CASE("a metric that ends as NaN is the result, and one that is left out at the end is not") {
  const std::vector<Run> lost = Table("step,loss,accuracy\n1,2.5,80\n2,nan,nan\n").runs();
  REQUIRE(lost.size() == 1);
  CHECK(std::isnan(lost[0].result->value));
  const std::vector<Run> sparse = Table("step,loss,accuracy\n1,2.5,80\n2,2,\n").runs();
  REQUIRE(sparse.size() == 1);
  CHECK(sparse[0].result->value == 80);
}

TEST_CASE("an empty loss is NaN where the row measures nothing else") {
  const Run lost = Table("step,epoch,loss,accuracy\n1,0,2.5,80\n2,0,,\n3,1,,\n").runs()[0];
  REQUIRE(lost.steps.size() == 3);
  CHECK(std::isnan(lost.steps[1].loss));
  CHECK(lost.result->first_nonfinite_step == 2);
  const Run rated = Table("step,loss,lr\n1,2.5,\n1,,0.1\n2,2,\n").runs()[0];
  REQUIRE(rated.steps.size() == 2);
  CHECK(rated.steps[0].lr == 0.1);
}

TEST_CASE("every column has its place, and rows of several runs may be mixed") {
  const Table table(
      "\xEF\xBB\xBFStep,Loss,accuracy,scale,skipped,lr,flushed,underflowed,absorbed,zero,subnormal,grad_norm,"
      "epoch,seconds,"
      "peak_bytes,run,recipe,model,data,seed,optimizer,device\r\n"
      "1,2.5,,1024,True,0.1,0.5,0.25,0.125,0.1,0.2,3.5,0.5,1,100,a,fp16_dynamic,mlp,mnist,7,sgd "
      "lr=0.1,cpu\r\n"
      "1,2.4,10,,,,,,,,,,,,,b,\"amp, mine\",mlp,mnist,7,sgd lr=0.1,cpu\r\n"
      "2,1.5,91,512,False,0.1,,,,,,,1,2,300,a,fp16_dynamic,mlp,mnist,7,sgd lr=0.1,cpu\r\n"
      "3,,93,,,,,,,,,,,,200,a,fp16_dynamic,mlp,mnist,7,sgd lr=0.1,cpu\r\n");
  const std::vector<Run> runs = table.runs();
  REQUIRE(runs.size() == 2);
  const Run &a = runs[0], &b = runs[1];
  CHECK(a.path == table.path + "#a");
  CHECK(a.header.recipe == recipes::fp16_dynamic);
  CHECK(run_field(a, "recipe") == "fp16_dynamic");
  CHECK(run_field(b, "recipe") == "amp, mine");
  CHECK(run_field(a, "lr") == "0.1");
  CHECK(a.header.seed == 7);
  CHECK(a.header.higher_is_better);
  REQUIRE(a.steps.size() == 2);
  CHECK(a.steps[0].scale == 1024);
  CHECK(a.steps[0].skipped);
  CHECK(a.steps[0].skips == 1);
  CHECK(a.steps[0].flushed == 0.5);
  CHECK(a.steps[0].underflowed == 0.25);
  CHECK(a.steps[0].absorbed == 0.125);
  CHECK(a.steps[0].zero == 0.1);
  CHECK(a.steps[0].subnormal == 0.2);
  CHECK(a.steps[0].grad_norm == 3.5);
  CHECK(a.steps[0].epoch == 0.5);
  CHECK(std::isnan(a.steps[0].metric));
  CHECK(a.steps[1].metric == 93);  // the row of a validation has no loss: it is of the step before
  CHECK(a.result->value == 93);
  CHECK(a.result->skipped == 1);
  CHECK(a.result->seconds == 2);
  CHECK(a.result->peak_bytes == 300);
  CHECK(b.result->value == 10);
}

TEST_CASE("the words of other programs, and an epoch in place of a step") {
  const Run keras = Table("epoch,accuracy,loss,val_accuracy\n0,0.5,2,0.4\n1,0.6,1,0.5\n").runs()[0];
  CHECK(keras.steps[1].step == 1);
  CHECK(keras.steps[1].epoch == 1);
  CHECK(keras.steps[1].metric == 0.5);  // that of the validation, not of the training batches
  CHECK(Table("step,loss,val_loss\n1,2,3\n").runs()[0].steps[0].validation_loss == 3);
  const Run other = Table("step,loss,metric\n1,2,auc\n").runs()[0];  // a word of ours, a column of theirs
  CHECK(other.header.metric == "training loss");
  const Run lightning = Table("epoch,step,train_loss,val_acc\n0,9,2,\n0,9,,0.4\n1,19,1,\n").runs()[0];
  CHECK(lightning.steps[0].metric == 0.4);
  CHECK(lightning.steps[1].loss == 1);
  const Table both("step,loss,mse,perplexity\n1,2,3,4\n");
  CHECK(both.runs()[0].result->value == 3);
  CHECK(both.runs("perplexity")[0].result->value == 4);
  CHECK(both.runs("perplexity")[0].header.metric == "perplexity");
}

TEST_CASE("a table that is none: the message names file and line") {
  const auto says = [](const std::string& text, const std::string& wanted) {
    const Table table(text);
    const std::string message = table.complaint();
    INFO(message);
    CHECK(message.find(wanted) != std::string::npos);
    CHECK(message.find(table.path) != std::string::npos);
    CHECK(message.size() < table.path.size() + 500);
  };
  says("", "empty");
  says("a,b\n1,2\n", ":1: the header names no column \"step\"; it has a, b");
  says("step\n1\n", ":1: the header names no column \"loss\"");
  says("step,loss\n", "no row has a loss");
  says("step,loss\n1\n", ":2: 1 fields, but the header has 2");
  says("step,loss\n1,2,3\n", ":2: 3 fields, but the header has 2");
  says("step,loss\n1,x\n", ":2: \"loss\" is not a number: x");
  says("step,loss\n1.5,1\n", ":2: \"step\" is no whole number from 0 on: 1.5");
  says("step,loss\n1e300,1\n", ":2: \"step\" is no whole number");
  says("step,loss\n-1,1\n", ":2: \"step\" is no whole number");
  says("step,loss\n,1\n", ":2: \"step\" is no whole number");
  says("step,loss\n2,1\n2,1\n", ":3: step 2 after step 2 of the same run");
  says("step,loss,seed\n2,1,x\n", ":2: \"seed\" is not a number: x");
  says("step,loss\n1,\"1\n", ":2: a quote is not closed");
  says("step,loss\n1,\x1b[2J\n", "\\x1b[2J");
  CHECK(files::message<Error>([] { csv_runs("/dev/zero"); }).find("no regular file") != std::string::npos);
  CHECK(files::message<Error>([] { csv_runs("missing.csv"); }).find("missing.csv") != std::string::npos);
}
