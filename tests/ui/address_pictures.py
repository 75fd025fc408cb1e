"""Pictures of a file of addresses at every stage, for ``screenshots.py``."""

from __future__ import annotations

import csv
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.addresses.marks import Mark
from desktop.triton.types import Division, Entity, ParsedAddress
from desktop.ui.address_file_job import Stage
from tests.ui.fakes import BARE, FAILED, FULL, READY, STARTING, FakeClient

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from tests.ui.screenshots import Gallery

_NOWHERE = "三楼前台"
_ALIKE = "城关镇人民路15号"
_PLAIN = (
    ("浙江杭州余杭区文一西路1969号", ("浙江省", "杭州市", "余杭区", "仓前街道", "330110012"), 0.97),
    ("义乌市稠城街道工人西路21弄", ("浙江省", "金华市", "义乌市", "稠城街道", "330782001"), 0.98),
    ("东莞南城鸿福路620号", ("广东省", "东莞市", "", "南城街道", "441900004"), 0.95),
    ("朝阳区建国路93号", ("北京市", "市辖区", "朝阳区", "", "110105"), 0.58),
    ("湖北潜江园林街道章华中路", ("湖北省", "", "潜江市", "园林街道", "429005001"), 0.96),
)


def _answers() -> dict[str, ParsedAddress]:
    found = {}
    for text, names, confidence in _PLAIN:
        division = Division(*names, confidence)
        found[text] = ParsedAddress(text, (Entity("road", text[4:8], 4, 8, 0.97),), division, ())
    found[_NOWHERE] = ParsedAddress(_NOWHERE, (), Division(), ())
    alike = tuple(
        Division(p, c, d, "城关镇", code, 0.1)
        for p, c, d, code in (
            ("安徽省", "阜阳市", "临泉县", "341221100"),
            ("河南省", "许昌市", "鄢陵县", "411024100"),
            ("陕西省", "商洛市", "洛南县", "611021100"),
        )
    )
    road = (Entity("town", "城关镇", 0, 3, 0.95), Entity("road", "人民路", 3, 6, 0.97))
    found[_ALIKE] = ParsedAddress(_ALIKE, road, Division(), alike * 4)
    return found


def _write(path: Path, rows: int) -> None:
    texts = [text for text, *_ in _PLAIN] + [FULL, BARE, _NOWHERE, "不在表里", "", _ALIKE]
    with path.open("w", encoding="gb18030", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["单号", "收件人", "收货地址", "件数", "备注"])
        for i in range(rows):
            text = texts[i % len(texts)]
            writer.writerow([f"SF{i:06d}", "陈女士", text, i % 3 + 1, "放前台" if i % 4 else ""])


def take(gallery: Gallery, folder: Path) -> None:
    window, client = gallery.window, gallery.client
    assert isinstance(client, FakeClient)
    client.addresses.update(_answers())
    page = window.address
    job = page.job
    window.show_page(1)
    page.parse(_ALIKE)
    page.field.setText(_ALIKE)
    gallery.until(lambda: not page.single.busy)
    gallery.shoot("address_several")
    page.show_mode(1)
    gallery.shoot("file_empty")
    page.open_file(folder / "nothing.csv")
    gallery.until(lambda: not job.busy)
    gallery.shoot("file_unreadable")
    _write(folder / "客户地址.csv", 4000)
    page.open_file(folder / "客户地址.csv")
    gallery.until(lambda: job.stage is Stage.CHOSEN)
    gallery.shoot("file_chosen")
    client.hold_at = 2200
    page.file.choice.start_button.click()
    gallery.until(lambda: len(client.parsed) == client.hold_at)
    gallery.until(lambda: page.file.results.model.rowCount() > 2000)

    def steady() -> None:
        job.done, job._samples = 2420, deque([(0.0, 0), (3.0, 2420)])
        job.progressed.emit()

    gallery.shoot("file_running", steady)
    gallery.lease.become(STARTING)
    job.phase = "waiting"
    gallery.until(lambda: gallery.app.session.status.state == STARTING.state)
    gallery.shoot("file_waiting", page.file.progress.show_job)
    gallery.lease.become(FAILED)
    gallery.until(lambda: gallery.app.session.status.state == FAILED.state)
    gallery.shoot("file_server_failed", page.file.progress.show_job)
    gallery.lease.become(READY)
    gallery.until(lambda: gallery.app.session.status.state == READY.state)
    page.file.progress.pause_button.click()
    client.hold_at = None
    gallery.until(lambda: job.stage is Stage.PAUSED)
    page.file.progress.pause_button.click()
    gallery.until(lambda: job.stage is Stage.FINISHED)
    results = page.file.results
    gallery.until(lambda: results.model.rowCount() == 4000)
    results.table.setCurrentIndex(results.model.index(6, 0))
    gallery.shoot("file_finished")
    results.buttons[Mark.CHECK].click()
    gallery.until(lambda: 0 < results.model.rowCount() < 4000)
    gallery.shoot("file_to_check")
    results.correct(7)
    dialog = results.dialog
    assert dialog is not None
    gallery.until(dialog.save_button.isEnabled)
    gallery.shoot("file_correction", of=lambda: dialog)
    dialog.save_button.click()
    gallery.until(lambda: bool(results.counts and results.counts.corrected))
    menu = page.file.progress.menu

    def open_menu() -> QMenu:
        menu.close()
        menu.popup(window.mapToGlobal(window.rect().center()))
        return menu

    gallery.shoot("file_menu", of=open_menu)
    menu.close()
    page.file.progress.export_asked.emit(folder / "no" / "folder.csv", "csv")
    gallery.until(lambda: not job.busy)
    gallery.shoot("file_export_failed")
    size = window.size()
    window.resize(window.minimumSize())
    gallery.shoot("file_small")
    window.resize(size)
    page.file.progress.close_button.click()
    gallery.until(lambda: len(page.file.start.rows) == 1)
    gallery.shoot("file_earlier")
    page.show_mode(0)
