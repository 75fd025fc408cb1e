#!/usr/bin/env bash
# Looks the pinned packages up in the advisories of PyPI. Findings fail, unless .ci/audit-ignore.txt
# says why one does not concern us, and until when that was judged. Where the advisories cannot be
# reached nothing is claimed: it says so and ends with 0.
set -uo pipefail
cd "$(dirname "$0")/.."

tool=.cache/audit
[ -x "$tool/bin/pip-audit" ] || {
    .venv/bin/python -m venv "$tool" && "$tool/bin/pip" install --quiet pip-audit 2> "$tool/errors"
} || { echo "audit: pip-audit could not be installed; nothing was audited"; exit 0; }

rm -f "$tool/report.json"
ignored=()
while read -r id _; do
    case "$id" in ''|'#'*) ;; *) ignored+=(--ignore-vuln "$id") ;; esac
done < .ci/audit-ignore.txt

"$tool/bin/pip-audit" --requirement constraints.txt --no-deps --disable-pip \
    --format json --output "$tool/report.json" "${ignored[@]}" 2> "$tool/errors"
.venv/bin/python - "$tool/report.json" <<'PYTHON'
import json, sys
from pathlib import Path
try:
    found = json.loads(Path(sys.argv[1]).read_text())["dependencies"]
except (OSError, ValueError):
    print("audit: the advisories could not be read; nothing was audited")
    sys.exit(0)
audited = [d for d in found if "vulns" in d]
bad = [(d, v) for d in audited for v in d["vulns"]]
for package, advisory in bad:
    fixed = ", ".join(advisory["fix_versions"]) or "none yet"
    print(f"audit: {package['name']} {package['version']}: {advisory['id']} (fixed in {fixed})")
if not audited:
    print(f"audit: none of {len(found)} packages is known to the index; nothing was audited")
elif not bad:
    print(f"audit: no advisory for {len(audited)} of {len(found)} packages")
sys.exit(bool(bad))
PYTHON
