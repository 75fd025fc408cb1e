#!/usr/bin/env bash
# Walks the way of somebody who has only git, make and Python, in a fresh Debian: clone, `make
# setup`, a chat, an address, `make bundle`; then the bundle on a second machine without any of them.
# Prints every step with the seconds it took; the first that fails ends the walk.
#   .ci/walk.sh [COMMIT]
# Needs root, debootstrap and a way to Debian's and Python's packages: where pip takes its packages
# from folders of this machine, those are shown to the fresh one. Half an hour on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=${1:-HEAD}
repository=$PWD
work=$(mktemp -d /tmp/tritalk-walk-XXXXXX)
finish() {
    local status=$?
    if [ "$status" != 0 ]; then
        echo "the walk broke off; the logs it left:"
        find "$work"/*/root "$work"/*/home -path '*tritalk/log/*' -name '*.log' \
            -exec tail -n 20 {} + 2>/dev/null
    fi
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT

step() {
    printf '\n== %s\n' "$1"
    shift
    local begun=$SECONDS
    "$@"
    printf -- '-- %d s\n' "$((SECONDS - begun))"
}

# ---- what pip needs to find packages, as this machine's configuration names it ----
binds=(--bind "$repository:/repository" --bind /etc/ssl/certs:/etc/ssl/certs)
settings=$(python3 -m pip config list 2>/dev/null || true)
while read -r folder; do
    [ ! -d "$folder" ] || binds+=(--bind "$folder:$folder")
done < <(grep -E 'find-links|index-url' <<<"$settings" | grep -oE "(file://)?/[^ ']+" |
    sed -E 's|^file://||; s|/simple/?$||' | sort -u)
pip_settings() {
    # env variables count more than files, as pip itself has it.
    echo '[global]'
    grep -E '^(:env:\.|global\.)' <<<"$settings" |
        sed -E "s/^(:env:\.|global\.)([a-z-]+)='(.*)'$/\2 = \3/" | grep -v '^constraint' |
        awk '!seen[$1]++'
}

fresh=$work/fresh
machine=$PWD/.ci/machine.sh
step "a Debian with git, make and Python" "$machine" make "$fresh" \
    git make python3 python3-venv fonts-wqy-microhei
pip_settings > "$fresh/etc/pip.conf"
in_fresh() { "$machine" run "$fresh" "${binds[@]}" bash -euc "cd; $1"; }

step "git clone" in_fresh \
    "git config --global --add safe.directory '*'
     git clone -q /repository tritalk; cd tritalk; git checkout -q $(git rev-parse "$commit")
     git log -1 --format='%h %s'"
step "make setup" in_fresh "cd tritalk; make setup"
step "tritalk chat" in_fresh "cd tritalk; .venv/bin/tritalk chat 今天好累啊"
step "tritalk parse" in_fresh "cd tritalk; .venv/bin/tritalk parse 杭州市余杭区文一西路969号3幢"
# Without a display `make run` does the same job in the terminal.
step "make run" in_fresh "cd tritalk; make run"
step "make bundle" in_fresh "cd tritalk; make bundle"

bare=$work/bare
step "a Debian without any of them" "$machine" make "$bare" fonts-wqy-microhei
cp -r "$fresh/root/tritalk/dist/tritalk" "$bare/opt/tritalk"
in_bare() { "$machine" run "$bare" --user --offline bash -euc "cd; $1"; }
step "no Python, no git, no network" in_bare \
    "! command -v python3 git make; ! getent hosts deb.debian.org; echo none"
step "the bundle: tritalk chat" in_bare "/opt/tritalk/tritalk chat 今天好累啊"
step "the bundle: tritalk parse" in_bare \
    "/opt/tritalk/tritalk parse 杭州市余杭区文一西路969号3幢"
step "the bundle: tritalk doctor" in_bare "/opt/tritalk/tritalk doctor"
printf '\nwalked in %d s\n' "$SECONDS"
