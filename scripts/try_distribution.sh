#!/usr/bin/env bash
# Build the distributions, and try the wheel as a user does who has no checkout.
# It is installed into an empty environment, and `observatory observe` runs in an empty directory.
# It takes three to five minutes on two cores.
#     bash scripts/try_distribution.sh DIRECTORY [PYTHON]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
python=${2:-python3}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$(grep '^uv==' "$root/constraints.txt")"
"$place/venv/bin/uv" build --quiet --out-dir "$out" "$root"
"$place/venv/bin/uv" pip install --quiet --python "$place/venv/bin/python" \
    --constraint "$root/constraints.txt" "$out"/pytensor_observatory-*.whl

mkdir "$place/empty"
cd "$place/empty"
PATH="$place/venv/bin:$PATH" observatory observe
test -s html/index.html
