#!/bin/sh
# fuzz.sh FUZZ TIME CORPUS: runs one fuzz function of target/ for a time. Finding a failing input is
# what it is for, so that is exit 0 with the input in crash.txt; a fuzzer that cannot run is not.
set -eu
fuzz=$1 time=$2 corpus=$3
inputs=target/testdata/fuzz/$fuzz
mkdir -p "$inputs"
cp "$corpus"/seed-* "$inputs/"
code=0
(cd target && go test -run '^$' -fuzz "^$fuzz\$" -fuzztime "$time" -parallel 2 .) >fuzz.log 2>&1 || code=$?
cat fuzz.log
# A new input is written to testdata; one that lies there already (a known failure) is named instead.
new=$(sed -n 's/^ *Failing input written to //p' fuzz.log | head -n 1)
known=$(sed -n 's|^ *failure while testing seed corpus entry: |testdata/fuzz/|p' fuzz.log | head -n 1)
crash=${new:-$known}
if [ -n "$crash" ]; then
	cp "target/$crash" crash.txt
elif [ "$code" -ne 0 ]; then
	exit "$code"
fi
# What was only put here for the fuzzer goes again: it is no output.
rm -f "$inputs"/seed-* ${new:+"target/$new"}
