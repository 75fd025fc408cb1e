#!/usr/bin/env bash
# A bare Debian in a folder, to try what is published where nothing else is:
#   .ci/machine.sh make FOLDER [PACKAGE...]     debootstrap's smallest system and these packages
#   .ci/machine.sh run FOLDER [--user] [--offline] [--bind SOURCE:TARGET]... COMMAND...
# A command runs as root, or as the ordinary user `person`, in namespaces of its own: it sees no
# process, no mount and with --offline no network of this machine, but the X displays in
# /tmp/.X11-unix. Everything it has started ends with it. Needs root and debootstrap.
set -euo pipefail

say() { printf 'machine: %s\n' "$*" >&2; }
PATH="$PATH:/usr/sbin:/sbin"
cache=${TRITALK_ENGINE_CACHE:-$HOME/.cache/tritalk-engine}

make_machine() {
    local root=$1
    shift
    local include=ca-certificates,util-linux
    for package in "$@"; do include+=",$package"; done
    local base
    base=$cache/machine-$(sha256sum <<<"$include" | cut -c1-12).tar
    mkdir -p "$cache" "$root"
    if [ ! -s "$base" ]; then
        say "making a bare Debian${*:+ with $*}"
        local work
        work=$(mktemp -d)
        debootstrap --variant=minbase --include="$include" bookworm "$work/root" >"$work/log" ||
            { tail -n 20 "$work/log" >&2; exit 1; }
        chroot "$work/root" useradd --create-home --uid 1000 person
        rm -rf "$work/root"/var/cache/apt/archives/*.deb
        tar -C "$work/root" --numeric-owner -cf "$base.part" .
        mv "$base.part" "$base"
        rm -rf "$work"
    fi
    tar -C "$root" --numeric-owner -xf "$base"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # Archives are mirrored; a mirror's clock is not what is tested here.
    printf 'Acquire::Check-Valid-Until "false";\nAcquire::Check-Date "false";\n' \
        > "$root/etc/apt/apt.conf.d/90mirror"
}

run_in_machine() {
    local root=$1 as=root net=() binds=()
    shift
    while true; do
        case "${1:-}" in
            --user) as=person; shift ;;
            --offline) net=(--net); shift ;;
            --bind) binds+=("$2"); shift 2 ;;
            *) break ;;
        esac
    done
    exec unshare --mount --pid --ipc --fork --kill-child "${net[@]}" bash -euc '
        root=$1 as=$2 count=$3
        shift 3
        mount --make-rprivate /
        mkdir -p "$root/tmp/.X11-unix" "$root/dev/shm" "$root/dev/pts"
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        for device in null zero full random urandom tty; do
            touch "$root/dev/$device"
            mount --bind "/dev/$device" "$root/dev/$device"
        done
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        ln -sfn pts/ptmx "$root/dev/ptmx"
        [ ! -d /tmp/.X11-unix ] || mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
        for _ in $(seq "$count"); do
            mkdir -p "$root${1##*:}"
            mount --bind "${1%%:*}" "$root${1##*:}"
            mount -o remount,bind,ro "$root${1##*:}"
            shift
        done
        ip link set lo up 2>/dev/null || true
        home=/root
        words=()
        if [ "$as" != root ]; then
            home=/home/$as
            words=(setpriv --reuid=1000 --regid=1000 --clear-groups)
        fi
        exec chroot "$root" /usr/bin/env -i HOME="$home" USER="$as" LANG=C.UTF-8 \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${DISPLAY:+DISPLAY="$DISPLAY"} "${words[@]}" "$@"
    ' machine "$root" "$as" "${#binds[@]}" "${binds[@]}" "$@"
}

case "${1:-}" in
    make) shift; make_machine "$@" ;;
    run) shift; run_in_machine "$@" ;;
    *) say "say make or run; see the first lines of this file"; exit 2 ;;
esac
