"""The address page on fixed answers: highlighting, table, division, late and wrong answers."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.addresses.writers import RESULT_COLUMNS
from desktop.triton.types import Division, Entity, ParsedAddress
from desktop.ui.address_highlight import segments
from tests.ui.conftest import Fake
from tests.ui.fakes import BARE, FULL, STARTING, FakeLease
from tests.ui.keyboard import enter, type_text


def test_an_address_is_parsed_when_typing_pauses(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    one.window.show_page(1)
    page = one.window.address.single
    type_text(page.field, FULL)
    qtbot.waitUntil(lambda: page.result is not None)
    assert page.highlight.shown() == [
        ("上海市", "prov"),
        ("青浦区", "district"),
        ("华隆路", "road"),
        ("1777号", "roadno"),
        ("E通世界华新园", "poi"),
        ("A座", "houseno"),
        ("501室", "roomno"),
    ]
    rows = [
        [page.table.entities.index(row, column).data() for column in range(4)] for row in (0, 4)
    ]
    assert rows == [
        ["province", "上海市", "0–3", "0.99"],
        ["place", "E通世界华新园", "14–21", "0.91"],
    ]
    card = page.division
    assert card.row.names.text() == "上海市  ›  市辖区  ›  青浦区  ›  华新镇"
    assert (card.row.code.text(), card.row.confidence.text()) == ("310118109", "confidence 0.93")
    others = [c.names.text() for c in card.candidates if c.isVisibleTo(card)]
    assert others == ["上海市  ›  市辖区  ›  青浦区  ›  徐泾镇"]


def test_every_candidate_of_an_ambiguous_name_is_shown(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    address = fake().window.address
    page = address.single
    QGuiApplication.clipboard().setText(f"\n {BARE} \n")
    address.paste_button.click()
    qtbot.waitUntil(lambda: page.result is not None)
    assert page.field.text() == BARE
    shown = [c.code.text() for c in page.division.candidates if c.isVisibleTo(page.division)]
    assert shown == ["350102", "320302", "410204"]
    assert page.division.row.confidence.property("level") == "warn"


def test_of_a_pasted_list_nothing_is_dropped_in_silence(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    address = fake().window.address
    QGuiApplication.clipboard().setText(f"{BARE}\n{FULL}\n")
    address.paste_button.click()
    qtbot.waitUntil(lambda: address.job.preview is not None)
    assert address.job.preview is not None
    assert address.job.preview.rows == [[BARE], [FULL]]
    assert address.file.choice.isVisibleTo(address)
    assert address.field.text() == ""


def test_a_result_is_copied_as_json_and_as_a_row(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    page = fake().window.address.single
    assert not page.copy_json_button.isVisibleTo(page)
    page.parse(FULL)
    qtbot.waitUntil(lambda: page.result is not None)
    page.copy_json_button.click()
    copied = json.loads(QGuiApplication.clipboard().text())
    assert ParsedAddress.from_json(copied) == page.result
    page.copy_row_button.click()
    cells = dict(
        zip(("text", *RESULT_COLUMNS), QGuiApplication.clipboard().text().split("\t"), strict=True)
    )
    assert (cells["text"], cells["town"], cells["code"]) == (FULL, "华新镇", "310118109")
    assert (cells["entity_road"], cells["entity_poi"]) == ("华隆路", "E通世界华新园")
    assert page.copied.text() == "Copied."


def test_a_late_answer_does_not_replace_a_newer_one(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(lease=FakeLease(STARTING))
    page = one.window.address.single
    page.parse(FULL)
    page.parse(BARE)
    assert page.hint.text().startswith("The server is starting")
    one.lease.become(one.app.session.status.__class__("embedded", "", "ready"))  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: page.result is not None)
    qtbot.wait(100)
    assert page.result is not None
    assert page.result.text == BARE


def test_what_cannot_be_parsed_is_said_and_kept(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    page = fake().window.address.single
    enter(page.field)
    assert page.error.text() == "Type or paste an address first."
    page.field.setText("不在表里")
    enter(page.field)
    qtbot.waitUntil(lambda: not page.busy)
    assert page.error.text().startswith("Something went wrong")
    assert page.field.text() == "不在表里"
    assert not page.division.isVisibleTo(page)


def test_no_division_and_no_entity_are_said_in_words(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    one.client.addresses["你好"] = ParsedAddress("你好", (), Division(), ())
    page = one.window.address.single
    page.parse("你好")
    qtbot.waitUntil(lambda: page.result is not None)
    assert page.division.none.isVisibleTo(page)
    assert page.no_entities.isVisibleTo(page)
    assert not page.table.isVisibleTo(page)
    assert page.highlight.shown() == [("你好", "")]


def test_segments_count_code_points_and_leave_overlaps_out() -> None:
    text = "😀上海市😀路"
    entities = (
        Entity("prov", "上海市", 1, 4, 0.9),
        Entity("city", "海市", 2, 4, 0.5),
        Entity("road", "😀路", 4, 6, 0.8),
    )
    found = segments(ParsedAddress(text, entities, Division(), ()))
    assert [(s.text, s.entity.type if s.entity else "") for s in found] == [
        ("😀", ""),
        ("上海市", "prov"),
        ("😀路", "road"),
    ]


def test_the_highlight_wraps_in_a_narrow_window(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    one.window.show_page(1)
    page = one.window.address.single
    page.parse(FULL)
    qtbot.waitUntil(lambda: page.result is not None)
    QTest.qWait(20)
    wide = page.highlight.height()
    one.window.resize(640, 480)
    QTest.qWait(50)
    assert page.highlight.height() > wide
    assert all(piece.rect.right() <= page.highlight.width() for piece in page.highlight._pieces)
