#!/bin/sh
# fuzz.sh FUZZ TIME CORPUS: runs one fuzz function of target/ for a time. Finding a failing input is
# what it is for, so that is exit 0 with the input in crash.txt; a fuzzer that cannot run is not.
set -eu
fuzz=$1 time=$2 corpus=$3
mkdir -p "target/testdata/fuzz/$fuzz"
cp "$corpus"/seed-* "target/testdata/fuzz/$fuzz/"
code=0
(cd target && go test -run '^$' -fuzz "^$fuzz\$" -fuzztime "$time" -parallel 2 .) >fuzz.log 2>&1 || code=$?
cat fuzz.log
# A new input is written to testdata; one that lies there already (a known failure) is named instead.
crash=$(sed -n -e 's/^ *Failing input written to //p' \
	-e 's|^ *failure while testing seed corpus entry: |testdata/fuzz/|p' fuzz.log | head -n 1)
if [ -n "$crash" ]; then
	cp "target/$crash" crash.txt
elif [ "$code" -ne 0 ]; then
	exit "$code"
fi
