#!/bin/sh
# Usage: share/reference/make.sh SOURCE_ROOT VERSION FOLDER
# Writes the API reference of ropescope.h to FOLDER/html. Whatever Doxygen warns of is a failure. Status 77: no Doxygen.
set -eu
source=$1 version=$2 folder=$3
command -v doxygen >/dev/null || { echo 'reference: needs doxygen (Debian: apt-get install doxygen)'; exit 77; }
mkdir -p -- "$folder"
rm -rf -- "$folder/html"
sed -e "s|@VERSION@|$version|" -e "s|@HEADER@|$source/include/ropescope.h|" -e "s|@PYTHON@|${PYTHON:-python3}|" \
    -e "s|@FILTER@|$source/share/reference/filter.py|" -e "s|@INCLUDE@|$source/include|" -e "s|@OUT@|$folder|" \
    "$source/share/reference/Doxyfile.in" >"$folder/Doxyfile"
doxygen "$folder/Doxyfile"
echo "reference: $folder/html/index.html"
