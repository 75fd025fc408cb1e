#!/usr/bin/env bash
# Sets up what is missing: system libraries (through apt where it may), a virtual environment in
# .venv, the packages in the tested versions. Safe to run again; quick when nothing is missing.
# Usage: .ci/setup.sh [--test|--fuzz|--bundle|--test-bundle]   --test adds what the test suite needs
# (Xvfb, curl, ...), --fuzz that and the fuzzer, --bundle what makes the bundle, the .deb and the wheel
# (PyInstaller, ...), --test-bundle all that tries those out on a bare Debian (debootstrap, ...).
set -euo pipefail
cd "$(dirname "$0")/.."

with_tests=no
[ "${1:-}" = "--test" ] && with_tests=yes
with_fuzzer=no
[ "${1:-}" = "--fuzz" ] && with_tests=yes && with_fuzzer=yes
with_bundle=no
[ "${1:-}" = "--bundle" ] && with_bundle=yes
with_trial=no
[ "${1:-}" = "--test-bundle" ] && with_tests=yes && with_bundle=yes && with_trial=yes

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# ---- Python 3.11 or 3.12: Triton's Python backend needs numpy < 2, which newer ones lack ----
usable() { "$1" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null; }

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3.12 python3.11 python3 \
        "$HOME"/.pyenv/versions/3.1[12]*/bin/python3 \
        "$HOME"/.local/share/uv/python/cpython-3.1[12]*/bin/python3; do
        if [ -n "$candidate" ] && usable "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

# ---- system packages ----
missing=()
libraries=$(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null || true)
has_library() { grep -q "^[[:space:]]*$1 " <<<"$libraries"; }
need_library() { has_library "$1" || missing+=("$2"); }
need_command() { command -v "$1" >/dev/null || missing+=("$2"); }

may_install() {
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

install_missing() {
    [ "${#missing[@]}" = 0 ] && return 0
    local as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo "
    if may_install; then
        say "installing ${missing[*]}"
        ${as_root}env DEBIAN_FRONTEND=noninteractive apt-get update -qq
        ${as_root}env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    else
        say "system packages are missing, and I may not install them; please run as root:"
        say "  apt-get install -y ${missing[*]}"
        [ "${1:-}" = required ] && die "nothing works without them"
    fi
    missing=()
}

# A .venv that was copied or moved here still names its old place in every script.
if [ -f .venv/bin/pip ] && ! head -n 1 .venv/bin/pip | grep -qF "$(cd .venv && pwd -P)/"; then
    say ".venv was made in another place; making it anew"
    rm -rf .venv
fi

python=""
if [ -x .venv/bin/python ] && usable .venv/bin/python; then
    python=.venv/bin/python
else
    python=$(find_python)
    if [ -z "$python" ]; then
        found=$(python3 --version 2>/dev/null || echo "no Python")
        die "Python 3.11 or 3.12 is needed, and there is $found. Install one (apt-get install" \
            "python3.11 python3.11-venv, or: uv python install 3.12, or: pyenv install 3.12)," \
            "then run: make PYTHON=/path/to/python3.12 ${MAKECMDGOALS:-run}"
    fi
fi
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null && [ ! -x .venv/bin/pip ]; then
    missing+=("python$version-venv")
    install_missing required
fi

# The stub that runs the models links against the shared library of Python.
"$python" - <<'EOF' || { missing+=("libpython$version"); install_missing required; }
import ctypes, pathlib, sys, sysconfig
name = "libpython%d.%d.so.1.0" % sys.version_info[:2]
beside = pathlib.Path(sysconfig.get_config_var("LIBDIR") or "/", name)
try:
    ctypes.CDLL(str(beside) if beside.exists() else name)
except OSError:
    sys.exit(1)
EOF

need_library libEGL.so.1 libegl1
need_library libGL.so.1 libgl1
need_library libglib-2.0.so.0 libglib2.0-0
need_library libfontconfig.so.1 libfontconfig1
need_library libdbus-1.so.3 libdbus-1-3
need_library libxkbcommon.so.0 libxkbcommon0
need_library libxkbcommon-x11.so.0 libxkbcommon-x11-0
need_library libxcb-cursor.so.0 libxcb-cursor0
need_library libxcb-icccm.so.4 libxcb-icccm4
need_library libxcb-image.so.0 libxcb-image0
need_library libxcb-keysyms.so.1 libxcb-keysyms1
need_library libxcb-randr.so.0 libxcb-randr0
need_library libxcb-render-util.so.0 libxcb-render-util0
need_library libxcb-shape.so.0 libxcb-shape0
need_library libxcb-xkb.so.1 libxcb-xkb1
{ command -v fc-list >/dev/null && [ -n "$(fc-list :lang=zh 2>/dev/null)" ]; } ||
    missing+=(fontconfig fonts-noto-cjk)
if [ "$with_tests" = yes ]; then
    need_command Xvfb xvfb
    need_command trayer trayer
    need_command fcitx5 fcitx5
    need_command dbus-run-session dbus
    need_command curl curl
    need_command setpriv util-linux
fi
if [ "$with_bundle" = yes ]; then
    need_command objdump binutils
    need_library libwayland-cursor.so.0 libwayland-cursor0 # goes into the bundle
fi
if [ "$with_trial" = yes ]; then
    need_command debootstrap debootstrap
    need_command desktop-file-validate desktop-file-utils
    need_command appstreamcli appstream
fi
install_missing

# ---- packages ----
stamp=.venv/.set-up-for
wanted=$(cat pyproject.toml constraints.txt | sha256sum | cut -d' ' -f1)
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
    if [ ! -x .venv/bin/pip ]; then
        say "making .venv with $("$python" --version)"
        "$python" -m venv .venv
    fi
    say "installing the packages (torch is large: this takes some minutes the first time)"
    .venv/bin/python -m pip install -q --disable-pip-version-check \
        -c constraints.txt -e '.[server,dev]'
    printf '%s' "$wanted" > "$stamp"
    say "ready"
fi
if [ "$with_fuzzer" = yes ] && ! .venv/bin/python -c 'import atheris' 2>/dev/null; then
    say "installing the fuzzer"
    .venv/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[fuzz]'
fi
if [ "$with_bundle" = yes ] && ! { [ -x .venv/bin/pyinstaller ] && [ -x .venv/bin/pyproject-build ]; }
then
    say "installing what makes the bundle"
    .venv/bin/python -m pip install -q --disable-pip-version-check \
        -c constraints.txt -e '.[bundle]'
fi
