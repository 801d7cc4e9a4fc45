#!/usr/bin/awk -f
# compare_csv.awk -v bound=1e-9 A.csv B.csv: says by how much numbers differ at most, of themselves or of 1e-3. Fails
# where anything but a number differs, or a number by more than the bound.
BEGIN {
  FS = ","
  name = ARGV[2]
  sub(/^.*out-[a-z0-9]*\/(\.\/)?/, "", name)
  other = ARGV[2]
  ARGV[2] = ""
}
{
  if ((getline line < other) != 1) wrong("row " NR " is missing")
  if ($0 == line) next
  if (split(line, there, ",") != NF) wrong("row " NR)
  for (i = 1; i <= NF; i++) if ($i != there[i]) differ($i, there[i])
}
END {
  if (failed) exit 1
  if ((getline line < other) > 0) wrong("more rows")
  if (most <= bound) exit 0
  printf "  %s: %d numbers of %d rows differ, by at most %.1e (row %d, field %d)\n", name, numbers, NR, most, row, field
  exit 1
}
function wrong(what) {
  printf "  %s: %s: other text\n", name, what
  failed = 1
  exit 1
}
function differ(a, b,    apart, size) {
  if (a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) wrong("row " NR ": " a " for " b)
  apart = a > b ? a - b : b - a
  size = a < 0 ? -a : a
  if (size < 1e-3) size = 1e-3
  if (apart / size > most) {
    most = apart / size
    row = NR
    field = i
  }
  numbers++
}
