"""The main job in the terminal, for machines without a display."""

from __future__ import annotations

from desktop.cli.chat import Terminal, stream_reply
from desktop.cli.parse import show
from desktop.cli.session import server_session, wait_until_stopped

MESSAGE = "今天好累啊"
ADDRESS = "浙江省杭州市余杭区五常街道文一西路969号3幢5楼"


def run() -> int:
    """Start the server, stream a reply with confidences, parse an address, stop the server."""
    print("Starting the Triton server …", flush=True)
    with server_session() as client:
        print(f"\n> {MESSAGE}\n(each token with its probability)", flush=True)
        stream_reply(client.chat(MESSAGE), Terminal(numbers=True))
        print("\nAn address:", flush=True)
        show(client.parse([ADDRESS])[0], as_json=False)
        print("\nStopping the server …", flush=True)
    wait_until_stopped()
    print("Done. `tritalk chat` talks on, `tritalk parse` parses more; see `tritalk --help`.")
    return 0
