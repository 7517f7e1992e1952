"""The whole loop: demo/reader, the real tools, real files."""

from pathlib import Path

import pytest
from demo_conversation import Conversation

README = """\
# Tidemark

Tidemark is a small Python library that reads tide tables. It works offline (e.g. at sea).
Results are cached, so a second run is fast.

## Install

```sh
pip install tidemark
```

## People

Maintained by Ada Lovelace. Licensed under the MIT licence.
"""


@pytest.fixture
def here(tmp_path: Path) -> Conversation:
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    (tmp_path / "customers.csv").write_text('id,name\n1,"Ada\nLovelace"\n2,Bob\n', encoding="utf-8")
    (tmp_path / "orders.csv").write_text("order_id,customer_id\n1,1\n2,2\n3,1\n", encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text(
        '"""It predicts."""\n# TODO: cache\n', encoding="utf-8"
    )
    lines = "".join(f"line {number}\n" for number in range(1, 5001))
    (tmp_path / "long.txt").write_text(lines, encoding="utf-8")
    return Conversation(tmp_path)


async def test_a_project_is_introduced_and_asked_about(here: Conversation) -> None:
    answer = await here.ask("Please read README.md and introduce the project in three sentences.")
    assert answer == (
        "Tidemark is a small Python library that reads tide tables. It works offline (e.g. at "
        "sea). Results are cached, so a second run is fast."
    )
    assert here.calls == ["read"]
    licence = await here.ask("And which licence?")
    assert licence == "`README.md`, line 14: Licensed under the MIT licence."
    assert await here.ask("谁在维护？") == "`README.md` 第 14 行：Maintained by Ada Lovelace."
    assert await here.ask("How do I install it?") == (
        "`README.md`, line 9:\n\n```\npip install tidemark\n```"
    )
    assert here.calls == []


async def test_the_answer_changes_with_the_file(here: Conversation) -> None:
    (here.cwd / "README.md").write_text("Otters are here. They swim. They sleep.", encoding="utf-8")
    answer = await here.ask("请读 README.md 并用三句话介绍这个项目。")
    assert answer == "Otters are here. They swim. They sleep."


async def test_a_name_that_is_not_exact_finds_the_file(here: Conversation) -> None:
    assert (await here.ask("Summarise the readme in one sentence")).startswith("Tidemark is")
    assert here.calls == ["ls", "read"]
    assert (await here.ask("Explain app.py in one sentence")) == "It predicts."
    assert here.calls == ["read", "find", "ls", "read"]
    answer = await here.ask("read REDME.md")
    assert answer == "There is no file `REDME.md` here. Similar names: `README.md`"


async def test_csv_files_are_listed_and_joined(here: Conversation) -> None:
    answer = await here.ask("Which CSV files are here and how do they join?")
    assert "There are 2 CSV files here: `customers.csv`, `orders.csv`." in answer
    assert "- `customer_id` of `orders.csv` looks like `id` of `customers.csv`." in answer
    assert here.calls == ["find", "read", "read"]


async def test_rows_are_counted_as_a_csv_parser_does(here: Conversation) -> None:
    answer = await here.ask("how many rows and columns does customers.csv have?")
    assert answer.startswith("`customers.csv` has 2 rows and 2 columns.")
    assert answer.endswith("Columns: `id`, `name`")
    answer = await here.ask("orders.csv 有多少行多少列？")
    assert answer.startswith("`orders.csv` 有 3 行、2 列")


async def test_a_long_file_is_read_to_its_end(here: Conversation) -> None:
    assert await here.ask("count the words in long.txt") == "`long.txt` has 10,000 words."
    assert here.calls == ["read", "read", "read"]
    assert await here.ask("How many lines does long.txt have?") == "`long.txt` has 5,000 lines."
    assert here.calls == ["read", "read"]
    assert (await here.ask("last 2 lines of long.txt")).endswith("\nline 4999\nline 5000\n```")


async def test_lines_are_shown_under_their_numbers(here: Conversation) -> None:
    answer = await here.ask("显示 long.txt 第 10 到 11 行")
    assert answer == "`long.txt` 第 10–11 行：\n\n```\nline 10\nline 11\n```"
    answer = await here.ask("show lines 5000 to 5009 of long.txt")
    assert answer.endswith("line 5000\n```\n\nThe file ends at line 5,000.")
    answer = await here.ask("show line 9000 of long.txt")
    assert answer == "`long.txt` has no line 9,000: `read` counts 5,001 lines."


async def test_words_are_searched_for(here: Conversation) -> None:
    assert await here.ask("find TODO in the python files") == (
        "`TODO` is on 1 line in 1 file:\n\n```\nsrc/app.py:2: # TODO: cache\n```"
    )
    answer = await here.ask('find "line 4"')
    assert answer.startswith("`line 4` is on at least 100 lines in 1 file:")
    assert "… and 75 more lines." in answer
    assert "The tool adds: Just 100 matches" in answer
    assert (await here.ask("find zebra")).endswith("and found nothing.")


async def test_files_are_listed_and_counted(here: Conversation) -> None:
    answer = await here.ask("what's here?")
    assert answer.startswith("There are 4 files and 1 folder here: ")
    assert "- `src/`" in answer
    assert await here.ask("有多少个 Python 文件") == "这里有 1 个 Python 文件：`src/app.py`。"
    assert await here.ask("list rust files") == "There are no Rust files here."
    assert await here.ask("what is in src?") == "There is 1 file and 0 folders in `src`: `app.py`"
    assert await here.ask("read src") == "`src` is a folder. In it: `app.py`"


async def test_a_folder_that_is_not_there_is_said_so(here: Conversation) -> None:
    answer = await here.ask("list the files in the attic folder")
    assert answer.startswith("The tool `ls` reported:")


async def test_empty_and_proseless_files_are_described(here: Conversation) -> None:
    (here.cwd / "empty.md").touch()
    (here.cwd / "code.py").write_text("def f():\n    pass\n", encoding="utf-8")
    assert await here.ask("Summarise empty.md") == "`empty.md` is empty."
    assert await here.ask("Explain code.py") == (
        "`code.py` has no whole sentences to quote. It has 2 lines and defines: `f`"
    )
