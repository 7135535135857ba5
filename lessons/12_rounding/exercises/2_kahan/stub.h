// Exercise 12.2: Kahan's update. (Kahan 1965; for weights Zamirai et al. 2020, arXiv 2010.06192)
//
// The weight w and its compensation `kept` are numbers of the format T, of 16 bits. `kept` is what the roundings of
// earlier updates have lost: w + kept is nearer to the true weight than w. update is a float; the weight is to move by
// -update. R(x) = kept_in<T>(x) rounds a float to the nearest number of T.
//
//     due  = R(kept - update)          what the weight has to take now
//     next = R(w + due)                it takes a part of it: w - next is minus this part
//     rest = R(due + R(w - next))      the new compensation: due minus the part that the weight has taken
//
// Return {next, rest, false, absorbed}. absorbed: the update is not 0, and neither the weight nor its compensation has
// changed. All four fields are compared.
template <class T>
TINYMP_HD constexpr MovedWeight moved_kahan(float w, float, float update) {
  return {kept_in<T>(w - update), 0, false, false};  // TODO
}
