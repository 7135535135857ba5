// Exercise 3.1: chunked accumulation.
//
// Compute a dot product of n numbers in an accumulator of type Sum, float or half. chain() goes through all
// numbers from the first to the last, and rounds the sum to Sum after each product; it is right as it is.
//
// With chunks, each `chunk` numbers in a row have a chain of their own (the last chunk may be shorter).
// Another chain of the same type adds up the sums, from the first chunk to the last. It too begins at 0 and
// is rounded to Sum after each addition. A chunk of 0 means one chain for all numbers.
template <class Sum>
Sum chain(const float* a, const float* b, std::int64_t n) {
  Sum sum{};
  for (std::int64_t k = 0; k < n; ++k) sum = static_cast<Sum>(std::fma(a[k], b[k], static_cast<float>(sum)));
  return sum;
}

template <class Sum>
Sum chunks(const float* a, const float* b, std::int64_t n, [[maybe_unused]] std::int64_t chunk) {
  // TODO: one chain for each chunk, and one for their sums.
  return chain<Sum>(a, b, n);
}
