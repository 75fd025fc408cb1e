#!/usr/bin/env bash
# Runs a command with a Docker engine of its own, for the docker tests:
#   .ci/docker-engine.sh make test
# As root on a machine with apt it brings up a private dockerd (own socket, data, state), makes a
# Debian base image with debootstrap and collects the wheels of the image, so that no registry is
# needed; all of it ends with the command. Else the command runs with the engine that is there.
# What is slow to make is kept in TRITALK_ENGINE_CACHE (default ~/.cache/tritalk-engine). Where no
# engine can run, as in an unprivileged container, the command runs without one, and the tests skip;
# TRITALK_REQUIRE_ENGINE=1 makes that an error.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'docker-engine: %s\n' "$*" >&2; }
[ "$#" -gt 0 ] || { say "give a command to run with the engine"; exit 2; }
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "not root on a Debian machine: the tests use the engine they find, if any"
    exec "$@"
fi

without_engine() {
    say "$1"
    shift
    [ -z "${TRITALK_REQUIRE_ENGINE:-}" ] || exit 1
    say "going on without an engine: the docker tests are skipped"
    unset DOCKER_HOST
    "$@" 9>&-
    exit
}

PATH="$PATH:/usr/sbin:/sbin"
if ! command -v dockerd >/dev/null || ! command -v iptables >/dev/null ||
    ! command -v debootstrap >/dev/null || ! command -v ip >/dev/null; then
    say "installing docker.io, iptables, iproute2 and debootstrap"
    # Nothing may be started by the installation: this script has an engine of its own.
    policy=/usr/sbin/policy-rc.d
    made_policy=no
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' > "$policy"
        chmod +x "$policy"
        made_policy=yes
    fi
    export DEBIAN_FRONTEND=noninteractive
    installed=yes
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends \
        docker.io iptables iproute2 debootstrap >/dev/null; } || installed=no
    [ "$made_policy" = no ] || rm -f "$policy"
    [ "$installed" = yes ] || without_engine "the packages cannot be installed" "$@"
fi

cache=${TRITALK_ENGINE_CACHE:-$HOME/.cache/tritalk-engine}
mkdir -p "$cache"
state=$(mktemp -d /tmp/tritalk-engine-XXXXXX)
# The socket has rights of its own: root and the group docker.
chmod 711 "$state"
data=$cache/docker
# Two runs at once cannot share the data of one engine.
exec 9> "$cache/lock"
flock -n 9 || data=$state/docker
bridge=tritalk$((RANDOM % 10000))
wanted=$state/wanted
touch "$wanted"

run_engine() {
    # Started again when a test stops it. tail keeps the log bounded.
    while [ -e "$wanted" ]; do
        dockerd --host "unix://$state/docker.sock" --data-root "$data" \
            --exec-root "$state/exec" --pidfile "$state/docker.pid" \
            --bridge "$bridge" --iptables=false --ip6tables=false --ip-masq=false --log-level warn \
            --log-opt max-size=1m --log-opt max-file=2 2> >(tail -n 200 > "$state/dockerd.log") ||
            true
        sleep 2
    done
}

stop_engine() {
    local status=$?
    trap - EXIT INT TERM HUP
    rm -f "$wanted"
    if [ -s "$state/docker.pid" ]; then
        kill "$(cat "$state/docker.pid")" 2>/dev/null || true
    fi
    [ -z "$engine" ] || wait "$engine" 2>/dev/null || true
    [ "$status" = 0 ] || tail -n 20 "$state/dockerd.log" >&2 || true
    ip link delete "$bridge" 2>/dev/null || true
    awk -v state="$state/" 'index($2, state) == 1 { print $2 }' /proc/mounts | sort -r |
        xargs -r umount 2>/dev/null || true
    rm -rf "$state"
    exit "$status"
}
engine=
trap stop_engine EXIT
trap 'exit 130' INT TERM HUP
# A bridge of its own: docker0 may be another engine's.
ip link add "$bridge" type bridge || without_engine "no network can be made" "$@"
ip address add "10.213.$((RANDOM % 250)).1/24" dev "$bridge"
ip link set "$bridge" up
run_engine 9>&- &
engine=$!

export DOCKER_HOST=unix://$state/docker.sock
for _ in $(seq 300); do
    docker version >/dev/null 2>&1 && break
    sleep 0.1
done
docker version >/dev/null 2>&1 || without_engine "the engine did not come up" "$@"

# What earlier runs have cached and nobody has used for a week.
docker image prune -f --filter until=168h >/dev/null || true

# ---- the base image ----
base=tritalk-base:bookworm
if ! docker image inspect "$base" >/dev/null 2>&1; then
    if [ ! -s "$cache/base.tar" ]; then
        say "making the base image"
        debootstrap --variant=minbase \
            --include=python3,python3-venv,libpython3.11,ca-certificates,libgomp1,tzdata \
            bookworm "$state/root" >/dev/null
        rm -rf "$state/root"/var/cache/apt/archives/*.deb "$state/root"/var/lib/apt/lists/*
        tar -C "$state/root" --numeric-owner -cf "$cache/base.tar.part" .
        mv "$cache/base.tar.part" "$cache/base.tar"
        rm -rf "$state/root"
    fi
    docker import "$cache/base.tar" "$base" >/dev/null
fi

# ---- the packages of the image, from wherever this machine's pip takes them ----
wheels=$cache/wheels
bash .ci/setup.sh --test
stamp=$(sha256sum constraints.txt server_bundle/docker/requirements.txt | sha256sum)
if [ "$(cat "$wheels/.collected" 2>/dev/null)" != "$stamp" ]; then
    say "collecting the wheels of the image"
    rm -rf "$wheels"
    mkdir -p "$wheels"
    download() {
        .venv/bin/python -m pip download -qq --disable-pip-version-check --dest "$wheels" \
            --python-version 3.11 --only-binary=:all: -c constraints.txt "$@"
    }
    download -r server_bundle/docker/requirements.txt
    download --no-deps nvidia-pytriton
    printf '%s' "$stamp" > "$wheels/.collected"
fi

export TRITALK_DOCKER_BASE_IMAGE=$base
export TRITALK_DOCKER_WHEELS=$wheels
# A test stops the engine through this; it comes back by itself.
export TRITALK_TEST_ENGINE_PID=$state/docker.pid
"$@" 9>&-
