#include <lessons/lab/learn/commands/side_by_side.h>
#include <sstream>

namespace tinymp::lab {
namespace {

std::vector<std::string> words_of(const std::string& sentence) {
  std::istringstream in(sentence);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::string side_by_side(const std::vector<std::string>& sentences) {
  std::vector<std::string> merged = words_of(sentences.front());
  std::vector<bool> differs(merged.size(), false);
  for (const std::string& sentence : sentences) {
    const std::vector<std::string> words = words_of(sentence);
    if (words.size() != merged.size()) return "";
    for (std::size_t i = 0; i < words.size(); ++i) differs[i] = differs[i] || words[i] != merged[i];
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (!differs[i]) continue;
    merged[i].clear();
    for (const std::string& sentence : sentences)
      merged[i] += (merged[i].empty() ? "" : "|") + words_of(sentence)[i];
  }
  std::string line;
  for (const std::string& word : merged) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace tinymp::lab
