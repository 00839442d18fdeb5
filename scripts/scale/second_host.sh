#!/usr/bin/env bash
# Start a worker on a second host of this computer, as root, until this script ends.
# The host has a name, a /dev/shm, a home, a state and a cache of uv of its own: the worker finds
# nothing that another host has made, and makes its environments itself.
#     bash scripts/scale/second_host.sh tcp://127.0.0.1:8786 CPU
set -euo pipefail
[ $# = 2 ] || { echo "give the address of a scheduler, and the number of a CPU" >&2; exit 2; }
export SCHEDULER=$1 CPU=$2 DASK
DASK=$(realpath "$(dirname "$0")/../../.venv/bin/dask")
PYENV_ROOT=${PYENV_ROOT:-$(pyenv root 2>/dev/null || true)}
WHERE=$(mktemp -d)
trap 'rm -rf "$WHERE"' EXIT
export PYENV_ROOT HOME=$WHERE/home TMPDIR=$WHERE/tmp OBSERVATORY_LOCK=$WHERE/lock
export XDG_CACHE_HOME=$WHERE/cache OBSERVATORY_STATE=$WHERE/state
mkdir "$HOME" "$TMPDIR" "$OBSERVATORY_LOCK"
cd "$WHERE"
unshare --uts --ipc --mount --pid --fork --mount-proc --kill-child bash -c '
    hostname second
    mount -t tmpfs tmpfs /dev/shm
    exec taskset -c "$CPU" "$DASK" worker "$SCHEDULER" --nthreads 1 --resources bench=1 --no-dashboard
'
