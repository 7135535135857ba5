#pragma once

#include <kernels/cuda/values.h>
#include <kernels/formulas/row_chunks.h>

/// Sums down the columns of a matrix in the order of row_chunks.h. A thread adds up one chunk of one column, so that a
/// long matrix of few columns keeps a GPU busy, too; then the chunks of each column are added from the first to the last.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// finish(c, sum of term(row, c)): neighbours read neighbours.
template <class C, class Term, class Finish>
__global__ void sum_columns(Term term, std::int64_t rows, std::int64_t columns, Accumulation how,
                            Finish finish) {
  for (std::int64_t c = first(); c < columns; c += stride())
    finish(c, sum_in_chunks<C>(rows, how, [&](std::int64_t row) { return term(row, c); }));
}

/// partial:(chunks,columns)
template <class C, class Term>
__global__ void sum_column_chunks(Term term, std::int64_t rows, std::int64_t columns, std::int64_t chunks,
                                  Accumulation how, C* partial) {
  const std::int64_t length = rows_in_chunk(how, rows);
  for (std::int64_t i = first(); i < chunks * columns; i += stride()) {
    const std::int64_t c = i % columns, begin = i / columns * length;
    const std::int64_t end = begin + length < rows ? begin + length : rows;
    partial[i] = sum_of_chunk<C>(begin, end, how, [&](std::int64_t row) { return term(row, c); });
  }
}

template <class C, class Finish>
__global__ void add_column_chunks(const C* partial, std::int64_t columns, std::int64_t chunks,
                                  Accumulation how, Finish finish) {
  for (std::int64_t c = first(); c < columns; c += stride()) {
    C total = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      total = kept_sum(total + partial[chunk * columns + c], how);
    finish(c, total);
  }
}

template <class C, class Term, class Finish>
void reduce_columns(Term term, std::int64_t rows, std::int64_t columns, const Accumulation& how,
                    Finish finish) {
  const std::int64_t length = rows_in_chunk(how, rows), chunks = (rows + length - 1) / length;
  if (chunks <= 1) {
    launch<sum_columns<C, Term, Finish>>(blocks_for(columns), block_threads, 0, stream(), term, rows, columns,
                                         how, finish);
    return;
  }
  const Scratch<C> partial(chunks * columns);
  launch<sum_column_chunks<C, Term>>(blocks_for(chunks * columns), block_threads, 0, stream(), term, rows,
                                     columns, chunks, how, partial.data());
  launch<add_column_chunks<C, Finish>>(blocks_for(columns), block_threads, 0, stream(), partial.data(),
                                       columns, chunks, how, finish);
}

/// The terms of a plain sum.
template <class C>
struct EachOfColumn {
  Values x;
  std::int64_t columns;
  __device__ C operator()(std::int64_t row, std::int64_t c) const { return x.get<C>(row * columns + c); }
};

/// Stores a sum, divided by a count.
template <class C>
struct StoreOfColumn {
  Values y;
  C count = C(1);
  __device__ void operator()(std::int64_t c, C total) const { y.set(c, total / count); }
};

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
