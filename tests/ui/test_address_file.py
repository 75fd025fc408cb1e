"""A file of addresses in the window, on fixed answers: choosing, running, pausing, correcting."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QHeaderView, QMessageBox
from pytestqt.qtbot import QtBot

from desktop.addresses.marks import Mark
from desktop.addresses.workfile import WorkFile
from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui.address_file_job import FileFinished, Stage
from desktop.ui.address_file_start import SAMPLE
from desktop.ui.address_page import AddressPage
from tests.ui.conftest import Fake
from tests.ui.fakes import BARE, FAILED, FULL, READY, STARTING, FakeLease
from tests.ui.test_accessible import controls

REFUSED = "不在表里"
ROWS = [["1", FULL], ["2", BARE], ["3", REFUSED], ["", ""], ["5", FULL]]


def write(path: Path, rows: list[list[str]], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream).writerows([["单号", "收货地址"], *rows])
    return path


def opened(qtbot: QtBot, one: Fake, path: Path) -> AddressPage:
    one.window.show_page(1)
    page = one.window.address
    page.open_file(path)
    qtbot.waitUntil(lambda: page.job.stage is Stage.CHOSEN)
    return page


def finished(qtbot: QtBot, one: Fake, path: Path) -> AddressPage:
    page = opened(qtbot, one, path)
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED, timeout=20_000)
    settled(qtbot, page)
    return page


def settled(qtbot: QtBot, page: AddressPage) -> None:
    """Every line of the list has been read."""
    model = page.file.results.model
    qtbot.waitUntil(
        lambda: bool(
            page.file.results.counts
            and model.rowCount()
            and not model._listing
            and model.line(0)
            and model.line(model.rowCount() - 1)
        ),
        timeout=20_000,
    )


def shown(page: AddressPage) -> list[list[str]]:
    model = page.file.results.model
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def answer_save(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(path), ""))


def test_what_was_detected_is_shown_before_anything_is_parsed(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    page = opened(qtbot, one, write(tmp_path / "客户.csv", ROWS, "gbk"))
    choice = page.file.choice
    assert choice.name.full_text() == "客户.csv"
    assert choice.facts.text().endswith("5 rows · 2 columns · GBK / GB18030")
    assert choice.column.currentText() == "收货地址"
    assert choice.header.isChecked()
    preview = choice.table.preview
    assert preview.index(1, 1).data() == BARE
    assert preview.index(1, 1).data(Qt.ItemDataRole.FontRole).bold()
    assert preview.index(1, 0).data(Qt.ItemDataRole.FontRole) is None
    choice.header.click()
    qtbot.waitUntil(lambda: "6 rows" in choice.facts.text())
    assert preview.index(0, 1).data() == "收货地址"
    assert choice.column.currentIndex() == 1
    assert one.client.parsed == []


def test_without_a_guess_the_column_must_be_chosen(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\nab,cd\n", encoding="utf-8")
    choice = opened(qtbot, fake(), path).file.choice
    assert choice.column.currentIndex() == -1
    assert not choice.start_button.isEnabled()
    assert choice.hint.text() == "No column looks like addresses; choose one."
    header = choice.table.horizontalHeader()
    spot = QPoint(header.sectionViewportPosition(1) + 5, 5)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert choice.column.currentText() == "y"
    assert choice.start_button.isEnabled()
    assert choice.hint.text() == ""


def test_a_file_is_parsed_and_its_rows_marked(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    told: list[FileFinished] = []
    busy: list[bool] = []
    one.window.address.job.finished.connect(told.append)
    one.window.address.job.busy_changed.connect(busy.append)
    page = finished(qtbot, one, write(tmp_path / "a.csv", ROWS))
    assert shown(page) == [
        ["1", FULL, "上海市 › 市辖区 › 青浦区 › 华新镇", "310118109", "0.93", "Check entities"],
        ["2", BARE, "江苏省 › 南京市 › 鼓楼区", "320106", "0.41", "Check division"],
        [
            "3",
            REFUSED,
            "The address holds no readable character, only control characters.",
            "",
            "",
            "Failed",
        ],
        ["4", "", "", "", "", "Empty row"],
        ["5", FULL, "上海市 › 市辖区 › 青浦区 › 华新镇", "310118109", "0.93", "Check entities"],
    ]
    assert page.file.progress.left.text() == "5 rows · 3 to check · 1 failed"
    qtbot.waitUntil(lambda: bool(told))
    assert (told[0].name, told[0].total, told[0].check, told[0].failed) == ("a.csv", 5, 3, 1)
    assert busy[0] is True
    assert busy[-1] is False


def test_the_list_is_filtered_searched_and_sorted(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    page = finished(qtbot, fake(), write(tmp_path / "a.csv", ROWS))
    results = page.file.results
    numbers = lambda: [row[0] for row in shown(page)]  # noqa: E731
    assert results.buttons[Mark.CHECK].text() == "To check 3"
    results.buttons[Mark.FAILED].click()
    qtbot.waitUntil(lambda: numbers() == ["3"])
    results.buttons[Mark.CORRECTED].click()
    qtbot.waitUntil(results.empty.isVisible)
    assert results.empty.text() == "No row is like that."
    results.buttons[None].click()
    QTest.keyClicks(results.search, "320106")
    qtbot.waitUntil(lambda: numbers() == ["2"])
    results.search.clear()
    qtbot.waitUntil(lambda: len(numbers()) == 5)
    header = results.table.horizontalHeader()
    results.table.setCurrentIndex(results.model.index(1, 0))
    spot = QPoint(header.sectionViewportPosition(4) + 5, 5)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.waitUntil(lambda: numbers()[0] in ("1", "2"))
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.waitUntil(lambda: numbers()[:3] in (["2", "1", "5"], ["1", "5", "2"]))
    assert results.table.current_number() == 2  # the chosen row stays chosen
    menu = results.table.make_menu()
    (sorts,) = [action.menu() for action in menu.actions() if action.menu() is not None]
    sorts.actions()[1].trigger()
    qtbot.waitUntil(lambda: numbers() == ["1", "5", "3", "2", "4"])
    assert results.model.sorted_by == "address"
    sorts.actions()[1].trigger()
    assert results.model.descending
    menu.deleteLater()
    results.table.show_unsorted()
    qtbot.waitUntil(lambda: numbers() == ["1", "2", "3", "4", "5"])
    results.table.selectAll()
    settled(qtbot, page)
    QTest.keyClick(results.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().count("\n") == 4)
    assert f"\t{BARE}\t江苏省" in QGuiApplication.clipboard().text()


def test_pause_goes_on_and_cancel_keeps_what_is_done(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    one.client.hold.clear()
    page = opened(qtbot, one, write(tmp_path / "a.csv", [[str(i), FULL] for i in range(300)]))
    progress = page.file.progress
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.phase == "parsing")
    one.window.show_page(0)  # it goes on where nobody looks
    assert progress.pause_button.text() == "Pause"
    progress.pause_button.click()
    assert page.job.stage is Stage.PAUSING
    one.client.hold.set()
    qtbot.waitUntil(lambda: page.job.stage is Stage.PAUSED)
    assert page.job.done < 300
    assert progress.left.text().startswith("Paused: ")
    one.window.show_page(1)
    one.client.hold.clear()
    progress.pause_button.click()
    qtbot.waitUntil(lambda: page.job.phase == "parsing")
    progress.cancel_button.click()
    one.client.hold.set()
    qtbot.waitUntil(lambda: page.job.stage is Stage.CANCELLED)
    assert progress.left.text().endswith("What is done is kept.")
    assert progress.close_button.isVisible()
    progress.pause_button.click()
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED)
    qtbot.waitUntil(lambda: page.file.results.model.rowCount() == 300)


def test_an_unfinished_file_is_offered_at_the_next_start(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    path = write(tmp_path / "a.csv", [[str(i), FULL] for i in range(3000)])
    one.client.hold.clear()
    page = opened(qtbot, one, path)
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.phase == "parsing")
    one.client.hold.set()
    one.app.close()  # in the middle of it
    (work,) = WorkFile.all()
    before = work.counts().answered
    assert before < 3000

    two = fake()
    page = two.window.address
    two.window.show_page(1)
    qtbot.waitUntil(page.notice.isVisible)
    assert page.notice.words.text() == f"a.csv was not finished: {before:,} of 3,000 rows are done."
    qtbot.waitUntil(lambda: len(page.file.start.rows) == 1)
    assert page.file.start.rows[0].open_button.text() == "Continue"
    page.notice.act()
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED, timeout=30_000)
    assert len(two.client.parsed) == 3000 - before
    page.job.close_file()
    page.open_file(path)
    choice = page.file.choice
    qtbot.waitUntil(choice.notice.isVisible)
    assert choice.notice.words.text().startswith("This file was parsed before.")
    choice.notice.act()
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED)
    assert len(two.client.parsed) == 3000 - before


def test_a_restarting_server_is_waited_for_in_clear_words(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake(lease=FakeLease(STARTING))
    page = opened(qtbot, one, write(tmp_path / "a.csv", ROWS))
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.waiting)
    words = page.file.progress.left
    assert words.text().startswith("Waiting for the server (Loading ")
    one.client.dead = True
    one.lease.become(READY)
    qtbot.waitUntil(lambda: len(one.client.parsed) > 0)
    one.lease.become(FAILED)
    qtbot.waitUntil(lambda: "start it on the server page" in words.text())
    assert page.job.stage is Stage.RUNNING
    one.client.dead = False
    one.lease.become(READY)
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED, timeout=20_000)
    assert page.job.errors == 1  # the one that cannot be parsed; none for the server


def test_a_server_without_the_address_model_is_waited_for(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    models = {**READY.models, "address_parser": "UNAVAILABLE: no weights"}
    degraded = ServerStatus(
        "embedded", "", ServerState.DEGRADED, "running without address_parser", models=models
    )
    one = fake(lease=FakeLease(degraded))
    page = opened(qtbot, one, write(tmp_path / "a.csv", ROWS))
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.waiting)
    assert "Running without address_parser" in page.file.progress.left.text()
    page.file.progress.cancel_button.click()
    qtbot.waitUntil(lambda: page.job.stage is Stage.CANCELLED)


def test_a_correction_by_hand_is_kept_and_exported(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = finished(qtbot, fake(), write(tmp_path / "a.csv", ROWS))
    results = page.file.results
    results.table.setFocus()
    results.table.setCurrentIndex(results.model.index(1, 0))
    QTest.keyClick(results.table, Qt.Key.Key_Return)
    dialog: Any = results.dialog
    qtbot.waitUntil(dialog.save_button.isEnabled)
    assert [dialog.fields[n].text() for n in ("district", "code")] == ["鼓楼区", "320106"]
    assert dialog.candidates.count() == 4
    dialog.candidates.setCurrentIndex(2)
    dialog.candidates.activated.emit(2)
    assert [dialog.fields[n].text() for n in ("city", "code")] == ["徐州市", "320302"]
    dialog.fields["town"].setFocus()
    QTest.keyClicks(dialog.fields["town"], "x")
    assert dialog.fields["code"].text() == ""  # it was the district's
    dialog.fields["code"].setText("320302999")
    dialog.entities.item(5, 1).setText("湖南路 | 江北路")
    dialog.next_button.click()
    qtbot.waitUntil(lambda: results.dialog is not dialog and results.dialog is not None)
    second: Any = results.dialog
    qtbot.waitUntil(second.save_button.isEnabled)
    assert second.number == 3
    assert (
        second.error.text() == "The address holds no readable character, only control characters."
    )
    second.address.setText(FULL)
    second.parse_button.click()
    qtbot.waitUntil(lambda: second.fields["town"].text() == "华新镇")
    second.save_button.click()
    qtbot.waitUntil(lambda: results.buttons[Mark.CORRECTED].text() == "Corrected 2")
    settled(qtbot, page)
    assert shown(page)[1][2:] == ["江苏省 › 徐州市 › 鼓楼区 › x", "320302999", "", "Corrected"]

    answer_save(monkeypatch, tmp_path / "out")
    page.file.progress.formats["csv"].trigger()
    qtbot.waitUntil(lambda: (tmp_path / "out.csv").exists() and not page.job.busy)
    assert page.file.progress.left.text() == f"Exported to {tmp_path / 'out.csv'}."
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["单号"] for row in rows] == ["1", "2", "3", "", "5"]
    assert (rows[1]["code"], rows[1]["entity_road"]) == ("320302999", "湖南路 | 江北路")
    assert [row["corrected"] for row in rows] == ["", "yes", "yes", "", ""]
    answer_save(monkeypatch, tmp_path / "out.json")
    page.file.progress.formats["json"].trigger()
    qtbot.waitUntil(lambda: (tmp_path / "out.json").exists() and not page.job.busy)
    data = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert data[2]["text"] == FULL
    assert data[1]["entities"][1]["text"] == "湖南路"

    results.correct(2)
    third: Any = results.dialog
    qtbot.waitUntil(third.restore_button.isEnabled)
    third.restore_button.click()
    qtbot.waitUntil(lambda: results.buttons[Mark.CORRECTED].text() == "Corrected 1")


def test_what_cannot_be_opened_or_written_is_said(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fake()
    page = one.window.address
    one.window.show_page(1)
    start = page.file.start
    broken = tmp_path / "a.xlsx"
    broken.write_bytes(b"PK no")
    for path, words in (
        (tmp_path / "a.pdf", "is no file; check its name."),
        (broken, "is no readable XLSX file."),
    ):
        page.open_file(path)
        qtbot.waitUntil(lambda words=words: words in start.error.text())
        assert page.job.stage is Stage.EMPTY
        assert not page.job.busy
    one.app.language.apply("zh")
    qtbot.waitUntil(lambda: start.error.text().endswith("XLSX 文件。"))
    one.app.language.apply("en")
    page = finished(qtbot, one, write(tmp_path / "a.csv", ROWS))
    answer_save(monkeypatch, tmp_path / "a.csv")
    page.file.progress.formats["csv"].trigger()
    qtbot.waitUntil(lambda: "is the file that is read" in page.file.progress.left.text())
    assert page.job.stage is Stage.FINISHED


def test_a_file_that_cannot_be_opened_leaves_the_results_of_the_last(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    page = finished(qtbot, one, write(tmp_path / "a.csv", ROWS))
    rows = shown(page)
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(b"PK no")
    page.open_file(broken)
    progress = page.file.progress
    qtbot.waitUntil(lambda: "is no readable XLSX file." in progress.left.text())
    assert page.job.stage is Stage.FINISHED
    assert page.job.name == "a.csv"
    assert progress.name.text() == "a.csv"
    assert not progress.pause_button.isVisible()
    assert shown(page) == rows


def test_enter_starts_a_file_whose_column_is_known(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    page = opened(qtbot, one, write(tmp_path / "a.csv", ROWS))
    assert one.window.focusWidget() is page.file.choice.start_button
    qtbot.keyClick(page.file.choice.start_button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED)


def test_a_second_file_is_refused_while_one_is_in_work(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    one.client.hold.clear()
    page = opened(qtbot, one, write(tmp_path / "a.csv", ROWS))
    page.file.choice.start_button.click()
    qtbot.waitUntil(lambda: page.job.phase == "parsing")
    page.open_file(write(tmp_path / "b.csv", ROWS))
    assert "Wait for a.csv, which is in work" in page.file.progress.left.text()
    one.client.hold.set()
    qtbot.waitUntil(lambda: page.job.stage is Stage.FINISHED)
    assert page.job.name == "a.csv"


def drop(page: AddressPage, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(50, 90), copy, data, left, none)
    QApplication.sendEvent(page, enter)
    assert enter.isAccepted()
    event = QDropEvent(QPointF(50, 90), copy, data, left, none, QEvent.Type.Drop)
    QApplication.sendEvent(page, event)


def test_a_file_is_dropped_on_the_page(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    page = one.window.address
    one.window.show_page(1)
    path = write(tmp_path / "a.csv", ROWS)
    drop(page, path, path)
    assert page.file.start.error.text() == "Drop one file at a time."
    drop(page, path)
    qtbot.waitUntil(lambda: page.job.stage is Stage.CHOSEN)
    assert page.modes.currentWidget() is page.file


def test_results_are_removed_only_when_asked_twice(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    page = finished(qtbot, one, write(tmp_path / "a.csv", ROWS))
    page.file.progress.close_button.click()
    start = page.file.start
    qtbot.waitUntil(lambda: len(start.rows) == 1)
    assert "3 to check" in start.rows[0].state.full_text()
    start.rows[0].remove_button.click()
    box = start.findChild(QMessageBox)
    assert box is not None
    assert "a.csv" in box.text()
    box.reject()
    assert len(WorkFile.all()) == 1
    start.rows[0].remove_button.click()
    box = start.findChildren(QMessageBox)[-1]
    (remove,) = [b for b in box.buttons() if b.text() == "Remove"]
    remove.click()
    qtbot.waitUntil(lambda: start.rows == [])
    assert WorkFile.all() == []
    assert (tmp_path / "a.csv").exists()


def test_the_sample_file_opens_with_its_column(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    one.window.show_page(1)
    page = one.window.address
    page.show_mode(1)
    page.file.start.drop.sample_button.click()
    qtbot.waitUntil(lambda: page.job.stage is Stage.CHOSEN)
    assert page.job.preview is not None
    assert page.job.preview.table.path == SAMPLE
    assert page.job.preview.table.total == 30
    assert page.file.choice.column.currentText() == "收货地址"


def test_tab_reaches_every_control(qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path) -> None:
    one = fake()
    page = finished(qtbot, one, write(tmp_path / "a.csv", ROWS))
    qtbot.waitUntil(one.window.isActiveWindow)
    page.file.results.table.setCurrentIndex(page.file.results.model.index(0, 0))
    named = {widget for widget in controls(page) if widget.isEnabled()}
    # Headings are for the mouse; the table's menu sorts, too.
    wanted = {w for w in named if not isinstance(w, QHeaderView)}
    assert [w for w in named if not (w.accessibleName() or w.property("text"))] == []
    reached = set()
    page.setFocus()
    for _ in range(40):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.add(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    # The arrows reach the other buttons of a group.
    grouped = {w for w in wanted if isinstance(w, QAbstractButton) and w.group() is not None}
    assert {type(w).__name__ + str(w.property("text")) for w in wanted - reached - grouped} == set()
    assert len(reached & grouped) >= 2


def test_everything_fits_at_twice_the_font_size(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    page = finished(qtbot, one, write(tmp_path / "a.csv", ROWS))
    table = page.file.results.table
    before = table.rowHeight(0)
    one.app.theme.set_percent(200)
    try:
        qtbot.waitUntil(lambda: table.rowHeight(0) == 2 * before)
        assert table.horizontalHeader().height() == 2 * before
        for button in page.file.results.buttons.values():
            assert button.width() >= button.fontMetrics().horizontalAdvance(button.text())
    finally:
        one.app.theme.set_percent(100)
    qtbot.waitUntil(lambda: table.rowHeight(0) == before)
