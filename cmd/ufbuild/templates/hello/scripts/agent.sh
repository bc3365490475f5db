#!/bin/sh
# Stands in for an agent: it reads the prompt from standard input and writes what the prompt asks for.
set -eu

side=$(sed -n 's/^Review the notes in .* for \(.*\)\.$/\1/p' | head -n 1)

findings=
for note in notes/*.md; do
	title=$(head -n 1 "$note" | tr -d '"\\')
	findings="$findings${findings:+,}{\"file\":\"$note\",\"text\":\"looked at: $title\"}"
done
printf '{"side":"%s","findings":[%s]}\n' "$side" "$findings" > review.json
