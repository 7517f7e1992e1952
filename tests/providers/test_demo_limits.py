"""What demo/reader must not get wrong, on real files: it counts, or it says that it cannot."""

from pathlib import Path

import pytest
from demo_conversation import Conversation

SALES = "sale_id,date,store,customer_id,amount\n" + "".join(
    f"{n},2024-01-{n % 28 + 1:02},{'ABC'[n % 3]},{n % 9},{n}.5\n" for n in range(1, 101)
)
CODE = '''\
"""Clean the table."""

LIMIT = 2  # TODO: ask Maria


def load(path):
    """Read a file.

    All of it.
    """
    return path


def drop(rows):
    # FIXME: drops zero
    return rows


def keep(rows):
    return rows
'''


@pytest.fixture
def shop(tmp_path: Path) -> Conversation:
    files = {
        "README.md": "# Shop\n\nThis folder holds the sales of a shop. Prices are in euros. They "
        "include tax.\n\n## Running\n\nRun clean.py first.\n\n## Data\n\nStore B lost records.\n",
        "sales.csv": SALES,
        "customers.csv": "customer_id,name,city\n1,Ann,Halle\n2,Bob,Ulm\n3,Cy,Halle\n",
        "archive/2022/q1.csv": "month,store,revenue\n1,A,5\n",
        "archive/2022/q2.csv": "month,store,revenue\n4,A,5\n5,B,6\n",
        ".ipynb_checkpoints/sales-checkpoint.csv": "old,columns\n1,2\n",
        "sales report 2024.csv": "quarter,total\nQ1,12\n",
        "clean.py": CODE,
        "work.ipynb": '{"cells": [{"source": "# TODO: Maria"}]}\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    log = "".join(f"{n},{'ERROR' if n % 100 == 0 else 'INFO'}\n" for n in range(1, 20_001))
    (tmp_path / "log.csv").write_text(f"n,level\n{log}", encoding="utf-8")
    (tmp_path / "gbk.csv").write_bytes("城市,人口\n北京,2189\n".encode("gbk"))
    (tmp_path / "wide.csv").write_bytes("name,city\nZoë,Gent\n".encode("utf-16"))
    return Conversation(tmp_path)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many lines contain ERROR in log.csv?", "`ERROR` is on 200 lines of `log.csv`"),
        ("How many ERROR lines are in log.csv?", "`ERROR` is on 200 lines of `log.csv`"),
        ('Count the lines with "Halle" in customers.csv', "`Halle` is on 2 lines of `customers"),
        ("How many TODOs are in clean.py?", "`TODO` is on 1 line of `clean.py`"),
        ("log.csv 中有多少行包含 ERROR？", "`log.csv` 中有 200 行包含 `ERROR`"),
        ("有多少行包含 “Halle”？", "`customers.csv` 中有 2 行包含 `Halle`"),
        ("How many times does ERROR appear in log.csv?", "`ERROR` is on 200 lines of `log.csv`"),
        ("数一下 clean.py 里有多少个 TODO", "`clean.py` 中有 1 行包含 `TODO`"),
        ("How many lines contain a in customers.csv?", "`a` is on 3 lines of `customers.csv`, 4 t"),
        ("How many lines contain INFO in log.csv?", "`INFO` is on at least "),
    ],
)
async def test_lines_that_contain_something_are_counted(
    shop: Conversation, question: str, answer: str
) -> None:
    assert (await shop.ask(question)).startswith(answer)
    assert shop.calls == ["grep"]


@pytest.mark.parametrize(
    "question",
    ["Find TODO comments in Python files", "find all TODO comments in clean.py"],
)
async def test_a_comment_is_searched_for_by_its_word(shop: Conversation, question: str) -> None:
    assert (await shop.ask(question)).startswith("`TODO` is on 1 line in 1 file:")


async def test_a_word_of_calculating_can_be_searched_for(shop: Conversation) -> None:
    assert (await shop.ask("find LIMIT in clean.py")).startswith("`LIMIT` is on 1 line")
    for question in ("find total in clean.py", "Find the word average", "search for sum"):
        await shop.ask(question)
        assert shop.calls == ["grep"]


async def test_reading_is_part_of_what_is_refused(shop: Conversation) -> None:
    answer = await shop.ask("Read sales.csv. Which store has the highest sales?")
    assert answer.startswith("I cannot answer this: ")
    assert "```" not in answer


async def test_several_words_are_searched_for_at_once(shop: Conversation) -> None:
    answer = await shop.ask("Search for TODO and FIXME")
    assert answer.startswith("`TODO` or `FIXME` is on 2 lines in 1 file:")
    answer = await shop.ask('find "Ann" or "Bob"')
    assert answer.startswith("`Ann` or `Bob` is on 2 lines in 1 file:")


@pytest.mark.parametrize(
    "question",
    [
        "What is the total amount in sales.csv?",
        "What is the average amount in sales.csv?",
        "What is the highest amount in sales.csv?",
        "Total amount by store in sales.csv",
        "Which columns in sales.csv have missing values?",
        "which rows in sales.csv have no date?",
        "How many different stores are in sales.csv?",
        "how many rows have amount > 100 in sales.csv?",
        "How many rows in sales.csv have store B?",
        "What is the date range in sales.csv?",
        "How many rows of sales.csv are from store B?",
        "Sales between March and May in sales.csv",
        "sales.csv 的总和是多少？",
        "sales.csv 中哪个门店的金额最高？",
        "統計 sales.csv 每個門店的銷售額",
        "sales.csv 的平均金额",
    ],
)
async def test_what_takes_calculating_is_refused_and_the_columns_shown(
    shop: Conversation, question: str
) -> None:
    answer = await shop.ask(question)
    assert answer.startswith(("I cannot answer this: ", "这个我回答不了："))
    assert "`sale_id`" in answer
    assert "line 1:" not in answer


@pytest.mark.parametrize(
    "question",
    [
        "How many sales did store B make?",
        "Which customer bought the most?",
        "amount by store",
        "What is the average?",
        "統計每個門店的銷售額",
        "How many empty lines are in README.md?",
        "How many lines are in all files?",
        "How many words are in all Markdown files?",
        "Which files are different?",
        "How many lines start with # in clean.py?",
        "How many lines do not contain ERROR in log.csv?",
        "How many lines contain both a and b in clean.py?",
        "log.csv 中有多少行不包含 ERROR？",
        "总共有多少个客户？",
    ],
)
async def test_no_file_answers_what_it_cannot(shop: Conversation, question: str) -> None:
    await shop.ask("Read README.md")
    answer = await shop.ask(question)
    assert answer.startswith(("I cannot answer this: ", "这个我回答不了："))
    assert "README" not in answer.partition("\n")[2]


async def test_a_follow_up_is_not_answered_from_a_file_read_long_ago(shop: Conversation) -> None:
    await shop.ask("Read README.md")
    await shop.ask("Read customers.csv")
    answer = await shop.ask("And the euros?")
    assert answer.startswith("I looked for `euros` in `customers.csv`")


async def test_a_question_with_a_word_of_tables_is_still_answered_from_text(
    shop: Conversation,
) -> None:
    await shop.ask("Read README.md")
    answer = await shop.ask("Which store lost its records?")
    assert answer == "`README.md`, line 11: Store B lost records."


async def test_the_names_of_columns_are_no_answer(shop: Conversation) -> None:
    answer = await shop.ask("What about the customer_id of customers.csv?")
    assert "line 1:" not in answer


async def test_lines_that_match_beyond_those_quoted_are_counted(shop: Conversation) -> None:
    answer = await shop.ask("Which line is about ERROR in log.csv?")
    assert "more lines of this file match as well." in answer
    assert "the file goes on" in answer


async def test_many_tables_are_counted_together(shop: Conversation) -> None:
    answer = await shop.ask("How many rows are in all CSV files in archive/2022 together?")
    assert answer.endswith("Together 2 tables have 3 rows, not counting the first line of each.")
    assert shop.calls == ["find", "read", "read"]
    answer = await shop.ask("Show the columns of every CSV in archive/2022")
    assert answer == (
        "- `archive/2022/q1.csv`, `archive/2022/q2.csv` (all alike): `month`, `store`, `revenue`"
    )
    answer = await shop.ask("Summarise all CSV files")
    assert "- `customers.csv`: 3 rows; `customer_id`, `name`, `city`" in answer
    assert "- `log.csv`: at least " in answer
    assert "- `wide.csv`: cannot be read as a table" in answer
    answer = await shop.ask("sales.csv 和 customers.csv 一共有多少行？")
    assert answer.endswith("2 个表一共有 103 行（每个表的第一行不计在内）。")


async def test_many_files_that_are_no_tables_are_listed_instead(shop: Conversation) -> None:
    answer = await shop.ask("Summarise all Python files")
    assert answer == "I introduce one file at a time: please name one. `clean.py`"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Show me the first 5 rows of sales.csv", "Lines 1–6 of", "5,2024-01-06,C,5,5.5"),
        ("show the head of sales.csv", "Lines 1–10 of", "9,2024-01-10,A,0,9.5"),
        ("Give me a preview of sales.csv", "Lines 1–10 of", "9,2024-01-10,A,0,9.5"),
        ("first rows of sales.csv", "Lines 1–6 of", "5,2024-01-06,C,5,5.5"),
        ("last 2 rows of sales.csv", "Lines 100–101 of", "100,2024-01-17,B,1,100.5"),
    ],
)
async def test_rows_are_shown_as_lines(
    shop: Conversation, question: str, first: str, last: str
) -> None:
    answer = await shop.ask(question)
    assert answer.startswith(first)
    assert answer.endswith(f"{last}\n```")


async def test_a_question_for_a_column_is_answered_with_all_of_them(shop: Conversation) -> None:
    answer = await shop.ask("Does customers.csv have a city column?")
    assert answer.endswith("Columns: `customer_id`, `name`, `city`")
    answer = await shop.ask("customers.csv 有没有 email 列？")
    assert answer.endswith("列名：`customer_id`、`name`、`city`")


async def test_folders_are_listed_alone(shop: Conversation) -> None:
    answer = await shop.ask("List the folders")
    assert answer == "There are 2 folders here: `.ipynb_checkpoints/`, `archive/`"
    assert "`2022/`" in await shop.ask("list everything in archive")
    assert await shop.ask("archive 里有哪些文件夹？") == "`archive` 里有 1 个文件夹：`2022/`"
    assert (await shop.ask("`archive`里有什么文件？")) == (await shop.ask("archive 里有什么文件？"))


async def test_sizes_of_files_are_not_known(shop: Conversation) -> None:
    for question in (
        "Which files are larger than 1 MB?",
        "When was sales.csv last modified?",
        "最大的文件是哪个？",
    ):
        assert "!ls -lS" in await shop.ask(question)
        assert shop.calls == []


async def test_how_to_run_it_is_found_in_the_readme(shop: Conversation) -> None:
    for question in ("How do I run this?", "How can I run it?"):
        assert await shop.ask(question) == "`README.md`, line 7: Run clean.py first."


async def test_functions_are_shown_by_their_own_lines(shop: Conversation) -> None:
    answer = await shop.ask("Which functions are in clean.py?")
    assert answer.startswith("`clean.py` has 3 definitions:\n\n```\n6: def load(path):\n14: def")
    answer = await shop.ask("What does load do in clean.py?")
    assert answer.startswith("Lines 6–10 of `clean.py`:")
    answer = await shop.ask("What does drop do in clean.py?")
    assert answer.endswith("def drop(rows):\n    # FIXME: drops zero\n```")
    answer = await shop.ask("What does keep do in clean.py?")
    assert answer.startswith("`keep` has no docstring or comment at its beginning")
    answer = await shop.ask("clean.py 里的 nothing 是做什么的？")
    assert answer == "我在 `clean.py` 里没有找到 `nothing` 的定义。"


async def test_an_opening_that_points_at_its_own_folder_is_kept(shop: Conversation) -> None:
    answer = await shop.ask("Introduce README.md in one sentence")
    assert answer == "This folder holds the sales of a shop."


async def test_tables_that_are_alike_stand_together_and_keys_first(shop: Conversation) -> None:
    answer = await shop.ask("Which two tables can be joined and on which column?")
    assert "`archive/2022/q1.csv`, `archive/2022/q2.csv` (all alike): `month`" in answer
    keys, others = answer.split("They also share these columns")
    assert "- `customer_id` is in `customers.csv`, `sales.csv`." in keys
    assert "- `store` is in `sales.csv`, `archive/2022/q1.csv` (and 1 alike)." in others
    assert "`revenue` is in" not in answer
    assert "checkpoint" not in answer
    assert "`gbk.csv`, `wide.csv`: no columns I can read" in answer


async def test_an_expression_is_shown_as_it_was_asked_for(shop: Conversation) -> None:
    assert (await shop.ask(r"find /\d5/ in customers.csv")).startswith(r"I looked for `\d5`")


async def test_lines_of_notebooks_are_left_out_of_a_search(shop: Conversation) -> None:
    answer = await shop.ask("find Maria")
    assert "work.ipynb" not in answer
    assert answer.endswith(
        'Left out: 1 line in notebooks and their checkpoints. To see them: `Find "Maria" in the '
        "notebooks`."
    )
    assert "work.ipynb:1:" in await shop.ask('Find "Maria" in the notebooks')
    answer = await shop.ask("find cells")
    assert answer.startswith("I looked for `cells` (upper and lower case alike) and found nothing")
    assert "outside notebooks" in answer


async def test_notebooks_do_not_crowd_out_what_is_searched_for(shop: Conversation) -> None:
    (shop.cwd / "big.ipynb").write_text("needle\n" * 150, encoding="utf-8")
    (shop.cwd / "zebra.txt").write_text("a needle\n", encoding="utf-8")
    answer = await shop.ask("find needle")
    assert answer.startswith("`needle` is on 1 line in 1 file:\n\n```\nzebra.txt:1: a needle")
    assert "lines in notebooks" in answer


async def test_it_is_the_file_read_last(shop: Conversation) -> None:
    await shop.ask("Read clean.py")
    assert "clean.py:3:" in await shop.ask("find Maria in it")
    answer = await shop.ask("里面有几行包含 return？")
    assert answer.startswith("`clean.py` 中有 3 行包含 `return`")


async def test_they_are_all_tables_and_not_the_one_read_last(shop: Conversation) -> None:
    await shop.ask("Read customers.csv")
    answer = await shop.ask("How many rows do they have?")
    assert "- `sales.csv`: 100 rows;" in answer
    assert "checkpoint" not in answer


async def test_the_rows_of_a_long_table_are_counted_without_reading_it(
    shop: Conversation,
) -> None:
    answer = await shop.ask("How many rows does log.csv have?")
    assert answer.startswith("`log.csv` has 20,000 rows and 2 columns.")
    assert shop.calls == ["read", "grep", "read"]


async def test_the_rows_of_a_long_table_with_quotes_are_not_guessed(shop: Conversation) -> None:
    text = 'n,note\n1,"two\nlines"\n' + "".join(f"{n},{'x' * 90}\n" for n in range(2, 5_000))
    (shop.cwd / "notes.csv").write_text(text, encoding="utf-8")
    answer = await shop.ask("How many rows does notes.csv have?")
    assert answer.startswith("`notes.csv` has at least ")
    assert "the file goes on" in answer
    assert shop.calls == ["read", "grep", "read", "read"]


async def test_the_remark_about_the_first_line_is_made_once(shop: Conversation) -> None:
    remark = "The first line, which I took for the names"
    assert remark in await shop.ask("How many rows does sales.csv have?")
    assert remark not in await shop.ask("How many rows does customers.csv have?")


async def test_a_place_that_was_not_filled_is_named(shop: Conversation) -> None:
    for text, place in (("Read {name} and summarise it", "{name}"), ("summarise $f", "$f")):
        answer = await shop.ask(text)
        assert answer.startswith(f"Your text is taken literally, so `{place}` names no file.")
        assert shop.calls == []


async def test_a_file_that_is_not_utf8_is_said_so(shop: Conversation) -> None:
    answer = await shop.ask("What are the columns of gbk.csv?")
    assert answer.startswith("`gbk.csv` has 1 row and 2 columns.")
    assert "The file is not UTF-8, and I read nothing else" in answer
    answer = await shop.ask("How many words are in gbk.csv?")
    assert answer == (
        "`gbk.csv` is not UTF-8, so I can count its lines, but not its words or characters."
    )
    answer = await shop.ask("wide.csv 里有哪些列？")
    assert answer.startswith("`wide.csv` 不是 UTF-8")


async def test_names_with_spaces_are_found(shop: Conversation) -> None:
    answer = await shop.ask("How many rows does sales report 2024.csv have?")
    assert answer.startswith("`sales report 2024.csv` has 1 row and 2 columns.")


async def test_hidden_names_and_spaced_verbs_are_understood_in_chinese(
    shop: Conversation,
) -> None:
    assert (await shop.ask("删除 sales.csv")).startswith("这个我做不到：")
    (shop.cwd / ".env").write_text("MODE=test\n", encoding="utf-8")
    answer = await shop.ask(f"请读 ../{shop.cwd.name}/.env")
    assert answer.endswith("```\nMODE=test\n```")
