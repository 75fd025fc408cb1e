"""A file through the real server: opened, parsed, its server killed, corrected, exported."""

from __future__ import annotations

import csv
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from desktop.launchers import acquire
from desktop.launchers.base import ServerState
from desktop.ui.address_file_job import Stage
from desktop.ui.address_file_start import SAMPLE
from desktop.ui.application import Application
from tests.conftest import Server

pytestmark = pytest.mark.triton


@pytest.fixture
def app(qapp: object, fresh_server: Callable[..., Server]) -> Iterator[Any]:
    """A window on a server that this test may kill."""
    server = fresh_server()
    app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    app.language.apply("en")
    app.theme.apply("light")
    app.window.show()
    app.window.activateWindow()
    app.session.start()
    end = time.monotonic() + 120
    while app.session.status.state is not ServerState.READY and time.monotonic() < end:
        QTest.qWait(20)
    assert app.session.status.state is ServerState.READY, app.session.status
    yield app, server
    app.close()
    app.window.deleteLater()


def test_a_file_from_the_sample_to_the_spreadsheet(
    qtbot: QtBot, app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application, server = app
    with SAMPLE.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    number = 40 * len(rows)
    source = tmp_path / "客户.csv"
    with source.open("w", encoding="gb18030", newline="") as stream:
        csv.writer(stream).writerows([header, *rows * 40])
    application.window.show_page(1)
    page = application.window.address
    page.open_file(source)
    qtbot.waitUntil(lambda: page.job.stage is Stage.CHOSEN, timeout=20_000)
    assert page.file.choice.column.currentText() == "收货地址"
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.phase == "parsing" and page.job.done > 100, timeout=60_000)
    assert page.job.rate >= 0
    (stub,) = server.stub_pids("address_parser")
    os.kill(stub, signal.SIGKILL)
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED, timeout=180_000)
    # Forty rows have no address; the killed server cost none.
    assert page.job.errors == 40
    results = page.file.results
    qtbot.waitUntil(lambda: results.model.rowCount() == number, timeout=20_000)
    qtbot.waitUntil(lambda: results.model.line(1) is not None, timeout=20_000)
    line = results.model.line(1)
    assert line is not None
    assert line.division.split()[0] == "上海市"
    assert line.division.split()[2] == "青浦区"
    assert line.code.startswith("310118")

    output = tmp_path / "out.xlsx"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(output), ""))
    page.file.progress.formats["xlsx"].trigger()
    qtbot.waitUntil(lambda: not page.job.busy and output.exists(), timeout=60_000)
    sheet = openpyxl.load_workbook(output, read_only=True).worksheets[0]
    names, *written = sheet.iter_rows(values_only=True)
    assert list(names[: len(header)]) == header
    assert len(written) == number
    kept = [[cell or "" for cell in row[: len(header)]] for row in written]
    assert kept == [list(row) for row in rows * 40]
    districts = [row[names.index("district")] for row in written]
    assert districts[1] == "青浦区"
    assert districts[: len(rows)] == districts[len(rows) : 2 * len(rows)]
