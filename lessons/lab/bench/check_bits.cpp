#include <fmt/format.h>
#include <kernels/emu/chip.h>
#include <lessons/lab/bench/bits_blocks.h>
#include <lessons/lab/bench/check_bits.h>
#include <lessons/lab/bench/executor.h>
#include <tinymp/base/error.h>
#include <cctype>
#include <cmath>
#include <fstream>

// Compares the tensor core of this GPU with its model in kernels/numerics, instruction by instruction.
namespace tinymp::lab::gpu_check {
namespace {

using namespace kernels;
using Json = nlohmann::ordered_json;

/// The model of this GPU's tensor core; empty when there is none.
std::optional<Gpu> model_of(const bench::Machine& machine) {
  if (machine.emulated) return emu::machine::chip();
  for (const Gpu gpu : {Gpu::h100, Gpu::h200, Gpu::b200, Gpu::a100}) {
    std::string name(name_of(gpu));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (machine.name.find(name) != std::string::npos) return gpu;
  }
  switch (machine.architecture) {
    case 80:
      return Gpu::a100;
    case 89:
      return Gpu::ada;
    case 90:
      return Gpu::h100;
    case 100:
      return Gpu::b200;
    default:
      return std::nullopt;
  }
}

using enum TileInstruction;
using enum Operand;
constexpr TileBatch all[] = {
    {wmma, fp16, fp16, Sums::f32},    {wmma, fp16, fp16, Sums::f16},    {wmma, bf16, bf16, Sums::f32},
    {mma_k8, fp16, fp16, Sums::f32},  {mma_k8, fp16, fp16, Sums::f16},  {mma_k16, fp16, fp16, Sums::f32},
    {mma_k16, fp16, fp16, Sums::f16}, {mma_k16, bf16, bf16, Sums::f32}, {mma_k32, e4m3, e4m3, Sums::f32},
    {mma_k32, e4m3, e5m2, Sums::f32}, {mma_k32, e5m2, e4m3, Sums::f32}, {mma_k32, e5m2, e5m2, Sums::f32}};

std::string text_of(TileInstruction instruction) {
  const TileSize size = size_of(instruction);
  return instruction == wmma ? "wmma 16x16x16" : fmt::format("mma.sync m16n8k{}", size.K);
}

/// Empty, with the reason, when the model of the GPU has no such unit.
std::optional<TensorCore> core_of(std::optional<Gpu> gpu, const TileBatch& tiles, bool emulated,
                                  std::string& why_not) {
  why_not = "no model of this chip";
  if (!gpu) return std::nullopt;
  try {
    if (tiles.instruction == mma_k32)
      return tensor_core_of_mix(*gpu, tiles.a_format, tiles.b_format,
                                emulated ? emu::machine::float8_instruction() : Instruction::mma_sync);
    return tensor_core(*gpu, tiles.a_format, tiles.sums == Sums::f16 ? Accumulator::f16 : Accumulator::f32);
  } catch (const UsageError& error) {
    why_not = error.what();
    return std::nullopt;
  }
}

/// What goes into an instruction, and what came out.
struct Tiles {
  Numbers a, b, c;
  std::vector<std::uint32_t> d{};
};

bench::Memory uploaded(bench::Executor& executor, const std::vector<unsigned char>& bytes) {
  bench::Memory memory(executor, bytes.size());
  executor.upload(memory.data(), bytes.data(), bytes.size());
  return memory;
}

Tiles computed(bench::Executor& executor, TileBatch batch, Kind kind) {
  Rng rng(2021);
  const TileSize size = size_of(batch.instruction);
  const auto count = [&](int rows, int cols) { return static_cast<std::size_t>(batch.count * rows * cols); };
  Tiles tiles{.a = draw(rng, count(size.M, size.K), batch.a_format, kind, true),
              .b = draw(rng, count(size.K, size.N), batch.b_format, kind, false),
              .c = draw_sums(rng, count(size.M, size.N), batch.sums, batch.a_format, kind)};
  const int width = bytes_of(batch.sums);
  std::vector<unsigned char> d = tiles.c.bytes(width);
  const bench::Memory a = uploaded(executor, tiles.a.bytes(bytes_of(batch.a_format))),
                      b = uploaded(executor, tiles.b.bytes(bytes_of(batch.b_format))),
                      c = uploaded(executor, d), there = uploaded(executor, d);
  batch.a = a.data(), batch.b = b.data(), batch.c = c.data(), batch.d = there.data();
  executor.tiles(batch);
  executor.download(d.data(), there.data(), d.size());
  for (std::size_t i = 0; i < d.size();) {
    std::uint32_t bits = 0;
    for (int byte = 0; byte < width; ++byte) bits |= std::uint32_t{d[i++]} << (8 * byte);
    tiles.d.push_back(bits);
  }
  return tiles;
}

std::string hex(std::uint32_t bits, int bytes) { return fmt::format("{:0{}x}", bits, 2 * bytes); }

/// One element of a tile: a row of a, a column of b, and what is added.
struct Element {
  std::vector<std::size_t> a, b;  // places
  std::size_t c;
};
Element element_of(const TileSize& size, std::size_t e) {
  const auto M = static_cast<std::size_t>(size.M), N = static_cast<std::size_t>(size.N),
             K = static_cast<std::size_t>(size.K);
  const std::size_t tile = e / (M * N), row = e % (M * N) / N, col = e % N;
  Element element{.a = {}, .b = {}, .c = e};
  for (std::size_t k = 0; k < K; ++k) {
    element.a.push_back(tile * M * K + row * K + k);
    element.b.push_back(tile * K * N + k * N + col);
  }
  return element;
}

/// An element as a line of the file of blocks; `model` is "" without one.
Json block_of(const TileBatch& batch, Kind kind, const Tiles& tiles, const Element& at,
              const std::string& model) {
  Json a = Json::array(), b = Json::array();
  for (const std::size_t i : at.a) a.push_back(hex(tiles.a.bits[i], bytes_of(batch.a_format)));
  for (const std::size_t i : at.b) b.push_back(hex(tiles.b.bits[i], bytes_of(batch.b_format)));
  return {{"instruction", text_of(batch.instruction)},
          {"a_format", name_of(batch.a_format)},
          {"b_format", name_of(batch.b_format)},
          {"sums", kernels::name_of(batch.sums)},
          {"kind", name_of(kind)},
          {"a", a},
          {"b", b},
          {"c", hex(tiles.c.bits[at.c], bytes_of(batch.sums))},
          {"d", hex(tiles.d[at.c], bytes_of(batch.sums))},
          {"model", model}};
}

struct Compared {
  std::int64_t elements = 0, wrong = 0;
  std::int64_t other_nans = 0;  ///< NaN here and in the model, with other bits
};

/// Writes down the first elements that differ from the model; without one, the first of all.
Compared compare(const TileBatch& batch, Kind kind, const Tiles& tiles, const std::optional<TensorCore>& core,
                 std::ostream& blocks) {
  Compared result{.elements = static_cast<std::int64_t>(tiles.d.size())};
  std::vector<float> a, b;
  int kept = 0;
  for (std::size_t e = 0; e < tiles.d.size(); ++e) {
    if (!core && kept == most_blocks) break;
    const Element at = element_of(size_of(batch.instruction), e);
    std::string model;
    if (core) {
      a.clear(), b.clear();
      for (const std::size_t i : at.a) a.push_back(tiles.a.values[i]);
      for (const std::size_t i : at.b) b.push_back(tiles.b.values[i]);
      const float expected =
          tensor_core_dot(*core, a.data(), b.data(), static_cast<std::int64_t>(a.size()), tiles.c.values[e]);
      const std::uint32_t bits = bits_of(batch.sums, expected);
      if (bits == tiles.d[e]) continue;
      if (std::isnan(expected) && std::isnan(value_of(batch.sums, tiles.d[e]))) {
        ++result.other_nans;
        continue;
      }
      ++result.wrong;
      model = hex(bits, bytes_of(batch.sums));
    }
    if (kept++ < most_blocks) blocks << block_of(batch, kind, tiles, at, model).dump() << "\n";
  }
  return result;
}

}  // namespace

Finding compare_bits(bench::Executor& executor, std::optional<Gpu> model, const Setting& setting) {
  const bench::Machine machine = executor.machine();
  const std::filesystem::path path = setting.scratch / "bits_blocks.jsonl";
  std::ofstream blocks(path);
  expect(blocks.is_open(), "cannot write ", path.string());
  Finding finding{.table = {{"instruction", "operands", "sums", "numbers", "elements", "mismatches"}}};
  std::int64_t all_wrong = 0;
  int compared = 0;
  for (TileBatch batch : all) {
    batch.count = machine.emulated ? 4 : 1024;
    const std::string a(name_of(batch.a_format)), b(name_of(batch.b_format));
    for (const Kind kind : kinds) {
      Json row{{"instruction", text_of(batch.instruction)},
               {"a", a},
               {"b", b},
               {"sums", kernels::name_of(batch.sums)},
               {"numbers", name_of(kind)}};
      std::vector<std::string> cells{text_of(batch.instruction), a == b ? a : concat(a, ", ", b),
                                     std::string(kernels::name_of(batch.sums)), name_of(kind)};
      const bool is_new_enough = machine.architecture >= first_architecture(batch);
      if (!is_new_enough || (batch.instruction == mma_k32 && !machine.float8)) {
        row["refused"] = is_new_enough ? "this build has none: it needs CUDA 12.4 and code for sm_89 or newer"
                                       : fmt::format("sm_{} and newer have it", first_architecture(batch));
        cells.insert(cells.end(), {"-", row["refused"].get<std::string>()});
      } else {
        std::string why_not;
        const std::optional<TensorCore> core = core_of(model, batch, machine.emulated, why_not);
        const Compared found = compare(batch, kind, computed(executor, batch, kind), core, blocks);
        all_wrong += found.wrong;
        compared += core.has_value();
        row["elements"] = found.elements;
        if (core) {
          row.update(
              {{"model", name_of(*model)}, {"mismatches", found.wrong}, {"other_nans", found.other_nans}});
        } else {
          row["no_model"] = why_not;
        }
        cells.insert(cells.end(), {concat(found.elements), core ? concat(found.wrong) : why_not});
      }
      keep(finding, setting, row);
      finding.table.push_back(std::move(cells));
    }
  }
  finding.state = all_wrong > 0 ? State::bad : compared > 0 ? State::good : State::left_out;
  finding.summary =
      compared == 0 ? fmt::format(
                          "there is no model of the tensor cores of {} (sm_{}); {} holds what they "
                          "computed, {} elements a row",
                          machine.name, machine.architecture, path.string(), most_blocks)
      : all_wrong == 0 ? fmt::format("the model of {} has every bit", name_of(*model))
                       : fmt::format("{} elements differ from the model of {}; {} holds {} of each row",
                                     all_wrong, name_of(*model), path.string(), most_blocks);
  return finding;
}

Finding check_bits(const Setting& setting) {
  const std::unique_ptr<bench::Executor> executor = bench::executor();
  return compare_bits(*executor, model_of(executor->machine()), setting);
}

}  // namespace tinymp::lab::gpu_check
