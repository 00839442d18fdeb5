#!/usr/bin/env bash
# A g++ that compiles the same code with the same arguments once, into $KEPT_MODULES.
# It takes a while even then: processes that do not wait for each other must still overlap.
set -euo pipefail
# shellcheck disable=SC2153 # scripts/mutants.py sets both variables
real=$REAL_COMPILER store=$KEPT_MODULES
out='' source='' before='' rest=()
for each in "$@"; do
    if [ "$before" = -o ]; then out=$each
    elif [[ $each == *.cpp ]]; then source=$each
    elif [ "$each" != -o ]; then rest+=("$each"); fi
    before=$each
done
if [[ $out != *.so || ! -f $source ]]; then exec "$real" "$@"; fi
key=$(printf '%s\n' "${rest[@]}" | cat - "$source" | sha256sum | cut -c1-64)
if [ -f "$store/$key" ]; then
    sleep 0.3
    exec cp "$store/$key" "$out"
fi
"$real" "$@"
cp "$out" "$store/$key.$$"
mv "$store/$key.$$" "$store/$key"
