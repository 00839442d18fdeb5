#!/usr/bin/env bash
# Makes the environment of the tool.
#
#     scripts/make_tool_environment.sh PYTHON VENV [EXTRAS]
#
# EXTRAS are those of pyproject.toml, by default dev; "" is what the commands of workflows need.
# A second run updates the environment, or makes it again if it is broken. Nothing is compiled to
# bytecode in advance, because that takes longest and most modules are never imported.
set -euo pipefail
python=$1
venv=$2
extras=${3-dev}
cd "$(dirname "$0")/.."

fail() {
    echo "error: $*" >&2
    exit 1
}

supported='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))'
if ! "$python" -c "$supported" 2>/dev/null; then
    for other in python3.13 python3.12 python3.11; do
        if "$other" -c "$supported" 2>/dev/null; then
            echo "$python is not Python 3.11 to 3.13: using $other instead"
            python=$other
            break
        fi
    done
    "$python" -c "$supported" 2>/dev/null || fail \
        "$python is not Python 3.11 to 3.13, and no python3.11 to python3.13 is on PATH:" \
        "install one, or say where it is: make PYTHON=/path/to/python3.12"
fi

if [ -e "$venv" ] && [ ! -f "$venv/pyvenv.cfg" ] && [ -n "$(ls -A "$venv" 2>/dev/null)" ]; then
    fail "$venv is there and is no virtual environment: remove it, or name another directory"
fi
if ! "$venv/bin/python" -c "$supported" 2>/dev/null || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$venv"
    if ! said=$("$python" -m venv "$venv" 2>&1); then
        rm -rf "$venv"
        echo "$said" >&2
        fail "$python cannot make a virtual environment (its ensurepip module is probably missing):" \
            "install it (on Debian and Ubuntu: the package python3-venv)," \
            "or choose another Python: make PYTHON=/path/to/python3.12"
    fi
fi

echo "setting up the tool in $venv (needed again only when its dependencies change)"
uv_pin=$(grep '^uv==' constraints.txt)
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$uv_pin"
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" \
    --constraint constraints.txt --editable ".${extras:+[$extras]}"
