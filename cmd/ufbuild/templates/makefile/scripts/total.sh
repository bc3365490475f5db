#!/bin/sh
# Adds up the counts it is given.
cat "$@" | awk '{ n += $1 } END { print n }' > total.txt
