#pragma once

#include <lessons/lab/classroom/refusals.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// How much of one text is in another, for a teacher to look at: names, comments and layout do not count, nor
/// what stands in the stub already.
namespace tinymp::classroom {

/// The share of the reference's runs of five tokens that `text` holds too. 1: all of it.
double likeness_to(std::string_view reference, std::string_view text, std::string_view stub);
/// What a text is compared by: its runs of five tokens, and how often each is there, without those of the
/// stub.
using Shingles = std::map<std::string, int>;
Shingles shingles_of(std::string_view text, std::string_view stub);
/// The share of the shingles of both that they have in common; likeness(a, b) == likeness(b, a).
double likeness(const Shingles& a, const Shingles& b);

/// Nothing but the stub: its tokens.
bool is_stub(std::string_view text, std::string_view stub);

}  // namespace tinymp::classroom
