# Sourced by the style checks: which files they read, and how.
# shellcheck shell=bash disable=SC2016  # awk in quotes

sources() { # ROOT FOLDER...: C++ and CUDA files, one a line
  local root=$1 folder
  shift
  for folder; do
    if [ -d "$root/$folder" ]; then
      find "$root/$folder" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh' \)
    fi
  done | sort
}

code_of() { # FILES (on standard input): path:line:code, without comments and without what strings say
  tr '\n' '\0' | xargs -0 awk '
    function code(line,   out, token, rest) {
      while (line != "") {
        if (closing != "") {  # inside a comment or a raw string that began on an earlier line or just now
          if (!index(line, closing)) return out
          line = substr(line, index(line, closing) + length(closing))
          closing = ""
        } else {
          if (!match(line, /\/\/|\/\*|R?"|\047/)) return out line
          token = substr(line, RSTART, RLENGTH)
          rest = substr(line, RSTART + RLENGTH)
          out = out substr(line, 1, RSTART - 1)
          if (token == "//") return out
          if (token == "/*") closing = "*/"
          else if (token == "R\"") { closing = ")" substr(rest, 1, index(rest, "(") - 1) "\""; out = out "\"\"" }
          else if (token == "\"") { out = out "\"\""; if (match(rest, /^([^"\\]|\\.)*"/)) rest = substr(rest, RLENGTH + 1); else rest = "" }
          else if (out !~ /[0-9A-Za-z_]$/ && match(rest, /^(\\[^\047]+|\\\047|[^\047\\])\047/)) rest = substr(rest, RLENGTH + 1)
          line = rest
        }
      }
      return out
    }
    FNR == 1 { closing = "" }
    { text = code($0); if (text ~ /[^ ]/) print FILENAME ":" FNR ":" text }'
}
