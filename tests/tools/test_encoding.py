from pathlib import Path
from typing import Any

import pytest

ROWS = "订单号,顾客,城市,金额\n" + "1001,王小明,北京,12.5\n" * 40


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("gb18030", "gb18030"), ("utf-16", "utf_16"), ("big5", "big5")],
)
async def test_a_file_in_another_encoding_is_said_to_be_one(
    call: Any, tmp_path: Path, encoding: str, said: str
) -> None:
    text = ROWS.replace("顾", "商").replace("额", "星") if encoding == "big5" else ROWS
    (tmp_path / "t.csv").write_bytes(text.encode(encoding, "ignore"))
    result = await call("read", path="t.csv")
    assert "This is not UTF-8 text" in result.text
    assert said in result.text


async def test_utf_8_and_binary_files_are_not_remarked_on(call: Any, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("é 你好 🌍\n" * 5000)
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 8)
    assert "not UTF-8" not in (await call("read", path="t.txt")).text
    assert "not UTF-8" not in (await call("read", path="b.bin")).text
