#pragma once

#include <lessons/lab/classroom/refusals.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Measures how much of one text is in another, for a teacher to look at. Names, comments, layout and
/// everything that stands in the stub do not count.
namespace tinymp::classroom {

/// The share of the reference's runs of five tokens that `text` holds, too. 1: all of them.
double likeness_to(std::string_view reference, std::string_view text, std::string_view stub);
/// The runs of five tokens of a text, without those of the stub, and how often each occurs.
using Shingles = std::map<std::string, int>;
Shingles shingles_of(std::string_view text, std::string_view stub);
/// The share of the shingles of both texts that they have in common; likeness(a, b) == likeness(b, a).
double likeness(const Shingles& a, const Shingles& b);

/// Whether `text` has the same tokens as the stub.
bool is_stub(std::string_view text, std::string_view stub);

}  // namespace tinymp::classroom
