#!/usr/bin/awk -f
# compare_csv.awk A.csv B.csv: says whether the two are the same bytes, or by how much their numbers differ at most. Fails
# where anything but a number differs, or a number by more than the engine's float scores may (2e-4, attention.h).
BEGIN {
  FS = ","
  name = ARGV[1]
  other = ARGV[2]
  ARGV[2] = ""
  sub(/.*\//, "", name)
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
  if (numbers == 0)
    printf "  %-22s same bytes\n", name
  else
    printf "  %-22s %d numbers of %d rows differ, by at most %.1e (of themselves or of 1e-3)\n", name, numbers, NR, most
  if (most > 2e-4) exit 1
}
function wrong(what) {
  printf "  %-22s %s: other text\n", name, what
  failed = 1
  exit 1
}
function differ(a, b,    apart, size) {
  if (a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) wrong("row " NR ": " a " for " b)
  apart = a > b ? a - b : b - a
  size = a < 0 ? -a : a
  if (size < 1e-3) size = 1e-3
  if (apart / size > most) most = apart / size
  numbers++
}
