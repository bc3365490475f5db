#!/bin/sh
# Joins the reviews named on the command line.
set -eu

{
	echo "# Reviews"
	for review in "$@"; do
		echo
		cat "$review"
	done
} > report.md
