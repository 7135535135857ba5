#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lab.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <iterator>
#include <sstream>

// The table of contents: what ./learn tells of each lesson, and what its --verify and --sabotage want.
namespace tinymp::lab {
namespace {

constexpr Lesson lessons[] = {
    {.name = "00_why",
     .title = "Why: what sixteen bits would save",
     .question = "Counts the bytes of a training step, times FP16 on this processor, trains LeNet both ways"},
    {.name = "01_half",
     .title = "half: sixteen bits for a number",
     .question = "Shows the bits, a classifier that does not mind, and training without subnormals",
     .sabotage = "subnormals"},
    {.name = "02_matmul",
     .title = "Matmul: what goes wrong when a barrier is missing?",
     .question = "Climbs from naive to tensor cores, breaks a kernel, finds the race, trains with it",
     .sabotage = "barrier"},
    {.name = "03_accumulation",
     .title = "Accumulation: may a long sum be kept in FP16?",
     .question = "Sums that stop, dot products, batch norm with FP32 and FP16 sums, FP16 sums in inference",
     .sabotage = "fp32_sums"},
    {.name = "04_autograd",
     .title = "autograd: where do the casts sit?",
     .question = "Shows a tape, checks its gradients, and trains with a cast that it misses",
     .sabotage = "cast_backward"},
    {.name = "05_master_weights",
     .title = "Master weights: do small updates survive?",
     .question = "Fine-tunes a digit reader with small steps: FP32, FP16 weights, FP16 with an FP32 master",
     .sabotage = "master"},
    {.name = "06_loss_scaling",
     .title = "Loss scaling: do small gradients survive?",
     .question = "Trains an autoencoder in FP32 and in FP16 with S = 1, a static and a dynamic loss scale",
     .sabotage = "unscale"},
    {.name = "07_dynamic_scaling",
     .title = "Dynamic loss scaling: which S is right?",
     .question = "Three models under S = 1, S = 1024 and one dynamic setting",
     .sabotage = "backoff"},
    {.name = "08_islands",
     .title = "FP32 islands: what must not be computed in FP16?",
     .question = "Softmax, layer norm and Adam's moments in FP16, and on islands of FP32",
     .sabotage = "fp32_sums"},
    {.name = "09_autocast",
     .title = "Autocast: who decides which op runs in which format?",
     .question = "A loss on the wrong list of autocast; the levels O0 to O3; three programs, the same bits",
     .sabotage = "fp16_loss"},
    {.name = "10_convnet",
     .title = "A convolutional network: does mixed precision cost accuracy?",
     .question = "Trains ResNet-20 on CIFAR-10 in FP32, in mixed precision, and all in FP16",
     .sabotage = "norm_sums",
     .data = {"cifar10", "fashion", "cut"},
     .seeds_of_verify = 5,
     .full = "FP32 and mixed precision for 64,000 steps each, as in the paper: for a GPU"},
    {.name = "11_language_model",
     .title = "A language model: does it need loss scaling?",
     .question = "Trains a word LSTM in FP32 and in FP16 with S = 1, S = 128 and a dynamic S",
     .sabotage = "scale",
     .data = {"text", "course"}},
    {.name = "12_rounding",
     .title = "Rounding: can sixteen bits train without a master?",
     .question = "Fine-tunes in BF16: to nearest, at random, toward zero, compensated, and with a master",
     .sabotage = "words"},
    {.name = "13_eight_bits",
     .title = "Eight bits: does a network train with them?",
     .question = "Trains in FP8: errors, weights and activations in eight bits, with and without scales",
     .sabotage = "floor",
     .full = "FP8 against FP32 by pairs of seeds on four models: with --seeds 8 an hour"},
    {.name = "14_memory",
     .title = "When it does not fit: what takes the memory, and what saves it?",
     .question =
         "Counts a step's bytes, breaks attention in FP16, adds up small batches, computes blocks twice",
     .sabotage = "mask mean again divide softmax fp16",
     .full = "The decoder in four formats for 3,000 steps: with --seeds 3 ten minutes"},
    {.name = "15_many_processes",
     .title = "Many processes: does a step that they share stay the step of one?",
     .question =
         "Shares steps among ranks: order of sums, FP16 on the wire, one decision, shards, a pipeline",
     .sabotage = "order wire decide shard"}};

}  // namespace

std::span<const Lesson> course() { return lessons; }

std::vector<std::string> sabotages_of(const Lesson& lesson) {
  std::istringstream names(lesson.sabotage);
  return {std::istream_iterator<std::string>(names), {}};
}

const Lesson& lesson_of(std::string_view word) {
  const std::string number = lesson_number(word);
  const auto found = std::ranges::find_if(
      lessons, [&](const Lesson& lesson) { return lesson_number(lesson.name) == number; });
  expect(found != std::end(lessons), "lessons/lab/learn/course.cpp does not name lesson '", word, "'");
  return *found;
}

}  // namespace tinymp::lab
