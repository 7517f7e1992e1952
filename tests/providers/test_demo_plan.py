import pytest

from agent_nb.core.content import TextContent, ToolCall
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.providers.demo.plan import plan
from agent_nb.providers.demo.script import Call, Reply

TOOLS = ("read", "ls", "find", "grep")
README = (
    "# Tidemark\n\nTidemark reads tide tables. It works offline.\n\nIt is under the MIT licence.\n"
)


def user(text: str) -> UserMessage:
    return UserMessage.of(text)


def says(text: str) -> AssistantMessage:
    return AssistantMessage((TextContent(text),))


def done(
    *results: str, calls: tuple[Call, ...], is_error: bool = False, text: str = ""
) -> list[Message]:
    """An answer that calls tools, and what they gave."""
    made = [ToolCall(f"c{n}", call.name, call.arguments) for n, call in enumerate(calls)]
    return [
        AssistantMessage((TextContent(text), *made), stop_reason="toolUse"),
        *(
            ToolResultMessage(call.id, call.name, (TextContent(result),), is_error=is_error)
            for call, result in zip(made, results, strict=True)
        ),
    ]


def read(path: str, **more: int) -> Call:
    return Call("read", {"path": path, **more})


def after(question: str, *steps: list[Message]) -> Reply:
    messages: list[Message] = [user(question)]
    for step in steps:
        messages += step
    return plan(messages, TOOLS)


KNOWN: list[Message] = [
    user("Read README.md"),
    *done(README, calls=(read("README.md"),)),
    says("Lines 1–5 of `README.md`:"),
]


def test_a_file_is_read_before_it_is_spoken_of() -> None:
    reply = after("Please read README.md and introduce the project in two sentences.")
    assert reply == Reply("I will read `README.md`.", (read("README.md"),))


def test_the_answer_is_exactly_so_many_sentences_of_the_file() -> None:
    step = done(README, calls=(read("README.md"),))
    reply = after("Please read README.md and introduce the project in two sentences.", step)
    assert reply == Reply("Tidemark reads tide tables. It works offline.")


def test_another_file_gives_another_answer() -> None:
    step = done("Otters swim. Otters sleep.\n", calls=(read("README.md"),))
    reply = after("Please read README.md and introduce the project in two sentences.", step)
    assert reply.text == "Otters swim. Otters sleep."


def test_too_few_sentences_are_counted() -> None:
    step = done("Otters swim.\n", calls=(read("README.md"),))
    reply = after("Introduce README.md in three sentences", step)
    assert reply.text == "`README.md` has only 1 whole sentence I can quote:\n\nOtters swim."


def test_sentences_stay_in_the_language_of_the_file() -> None:
    step = done(README, calls=(read("README.md"),))
    reply = after("请用一句话介绍 README.md", step)
    assert reply.text == "Tidemark reads tide tables."
    reply = after("用中文一句话介绍 README.md", step)
    assert reply.text == "Tidemark reads tide tables.\n\n（我只能引用原文，不能翻译。）"


def test_without_a_name_the_readme_is_looked_up() -> None:
    listing = done("a.py\nReadMe.rst\nREADME.zh.md\nsrc/", calls=(Call("ls", {"path": "."}),))
    assert after("What is this project?", listing).calls == (read("ReadMe.rst"),)
    assert after("这个项目是什么？", listing).calls == (read("README.zh.md"),)


def test_without_a_readme_the_files_are_named() -> None:
    listing = done("a.py\nsrc/", calls=(Call("ls", {"path": "."}),))
    reply = after("What is this project?", listing)
    assert reply.text == "There is no file `README` here. Files here: `a.py`"


def test_a_missing_file_is_looked_for_under_similar_names() -> None:
    missing = done(
        "Cannot read notes.md: No such file or directory.",
        calls=(read("notes.md"),),
        is_error=True,
    )
    asked = after("Summarise notes.md", missing)
    assert [call.name for call in asked.calls] == ["find", "ls"]
    found = done("docs/Notes.MD", "docs/", calls=asked.calls)
    assert after("Summarise notes.md", missing, found).calls == (read("docs/Notes.MD"),)
    none = done("No file matches *notes*.", "node.md\nother.txt", calls=asked.calls)
    reply = after("Summarise notes.md", missing, none)
    assert reply.text == "There is no file `notes.md` here. Similar names: `node.md`"


def test_a_refused_call_is_passed_on_in_its_words() -> None:
    refusal = ".env was not read: it may hold keys. To allow it, ask again with --allow read."
    reply = after("read .env", done(refusal, calls=(read(".env"),), is_error=True))
    assert reply.text == f"The tool `read` reported:\n\n```\n{refusal}\n```"


def test_a_tool_that_is_not_there_is_named() -> None:
    reply = plan([user("find needle")], ("read",))
    assert "I would need `grep` for that" in reply.text
    assert not reply.calls


def test_a_follow_up_is_answered_from_what_was_read() -> None:
    reply = plan([*KNOWN, user("And which licence?")], TOOLS)
    assert reply == Reply("`README.md`, line 5: It is under the MIT licence.")
    reply = plan([*KNOWN, user("它用什么许可证？")], TOOLS)
    assert reply == Reply("`README.md` 第 5 行：It is under the MIT licence.")


def test_a_follow_up_without_an_answer_says_what_was_looked_for() -> None:
    reply = plan([*KNOWN, user("Which databases are supported?")], TOOLS)
    assert reply.text.startswith("I looked for `databases`, `supported` in `README.md` (lines 1–5)")


def test_what_stands_under_a_heading_answers_a_question_for_it() -> None:
    text = "# A\n\nIt is one.\n\n## Installation\n\n```sh\npip install a\n```\n\n## More\n\nNo.\n"
    known = [user("Read README.md"), *done(text, calls=(read("README.md"),)), says("Read.")]
    reply = plan([*known, user("How do I install it?")], TOOLS)
    assert reply.text == "`README.md`, line 8:\n\n```\npip install a\n```"


def test_a_follow_up_reads_the_rest_of_a_file_that_was_cut() -> None:
    cut = "Nothing here.\n\n[Lines 1-1 of 3. Go on with offset=2.]"
    known = [user("Read a.txt"), *done(cut, calls=(read("a.txt"),)), says("Read.")]
    question = user("Who maintains it?")
    reply = plan([*known, question], TOOLS)
    assert reply.calls == (read("a.txt", offset=2),)
    rest = done("Maintained by Ada.\n", calls=reply.calls)
    assert plan([*known, question, *rest], TOOLS).text == "`a.txt`, line 2: Maintained by Ada."


def test_reading_on_stops_after_three_calls() -> None:
    messages: list[Message] = [user("count the words in a.txt")]
    reply = plan(messages, TOOLS)
    reads = 0
    while reply.calls:
        reads += 1
        notice = f"[Lines {reads}-{reads} of more than 900. Go on with offset={reads + 1}.]"
        messages += done(f"one word\n\n{notice}", calls=reply.calls)
        reply = plan(messages, TOOLS)
    assert reads == 3
    assert reply.text.startswith("`a.txt` has at least 6 words. This is only up to line 3:")


def test_the_lines_of_a_long_file_are_counted_at_its_end() -> None:
    cut = done("x\n\n[Lines 1-1 of 5001. Go on with offset=2.]", calls=(read("a.txt"),))
    assert after("how many lines does a.txt have?", cut).calls == (read("a.txt", offset=5000),)
    end = done("last\n", calls=(read("a.txt", offset=5000),))
    assert after("how many lines does a.txt have?", cut, end).text == "`a.txt` has 5,000 lines."


def test_two_wishes_are_fulfilled_one_after_the_other() -> None:
    question = "Introduce README.md in one sentence and find needle"
    first = after(question)
    assert first.calls == (read("README.md"),)
    step = done(README, calls=first.calls)
    second = after(question, step)
    assert [call.name for call in second.calls] == ["grep"]
    found = done("a.txt:2: a needle", calls=second.calls)
    assert after(question, step, found).text == (
        "Tidemark reads tide tables.\n\n`needle` is on 1 line in 1 file:\n\n"
        "```\na.txt:2: a needle\n```"
    )


def test_what_cannot_be_done_is_said_after_what_can() -> None:
    step = done(README, calls=(read("README.md"),))
    reply = after("Introduce README.md in one sentence and translate it to French", step)
    assert reply.text.startswith("Tidemark reads tide tables.\n\nI cannot do this: `translate it")


def test_all_tables_are_read_at_once() -> None:
    question = "Which CSV files are here and how do they join?"
    found = done("c.csv\no.csv", calls=(Call("find", {"pattern": "*.csv"}),))
    reply = after(question, found)
    assert reply.calls == (read("c.csv", limit=5), read("o.csv", limit=5))
    heads = done("id,key,name\n1,a,b\n", "id,key,day\n", calls=reply.calls)
    text = after(question, found, heads).text
    assert "There are 2 CSV files here: `c.csv`, `o.csv`." in text
    assert "- `key` is in `c.csv`, `o.csv`." in text


def test_a_steering_message_is_answered_with_the_question_it_steers() -> None:
    step = done(README, calls=(read("README.md"),))
    reply = after("Introduce README.md in one sentence", step, [user("and which licence?")])
    assert reply.text.startswith("Tidemark reads tide tables.")


def test_a_steering_message_may_replace_the_question() -> None:
    step = done(README, calls=(read("README.md"),))
    reply = after("Introduce README.md in one sentence", step, [user("Stop, find needle instead")])
    assert [call.arguments["pattern"] for call in reply.calls] == ["needle"]


def test_a_question_whose_run_was_stopped_is_not_answered_again() -> None:
    stopped = done("Operation aborted", calls=(read("README.md"),), is_error=True)
    messages = [user("Introduce README.md"), *stopped, user("hello")]
    assert "I am `demo/reader`" in plan(messages, TOOLS).text
    messages = [user("Introduce README.md"), user("find needle")]
    assert [call.name for call in plan(messages, TOOLS).calls] == ["grep"]


def test_continuing_shows_the_lines_after_those_shown_last() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 101))
    known = [user("Read a.txt"), *done(text, calls=(read("a.txt"),))]
    first = plan(known, TOOLS).text
    assert first.startswith("Lines 1–40 of `a.txt`:")
    second = plan([*known, says(first), user("continue")], TOOLS).text
    assert second.startswith("Lines 41–80 of `a.txt`:\n\n```\nline 41\n")
    third = plan([*known, says(second), user("继续")], TOOLS).text
    assert third.startswith("`a.txt` 第 81–100 行：")
    assert plan([*known, says(third), user("continue")], TOOLS).text == (
        "That was all of `a.txt`: it ends at line 100."
    )


def test_an_attached_file_needs_no_call() -> None:
    question = f'<file name="/w/README.md">\n{README}</file>\nSummarise @README.md in one sentence'
    assert plan([user(question)], TOOLS) == Reply("Tidemark reads tide tables.")


def test_an_image_is_not_described() -> None:
    step = done("Image file, image/png.", calls=(read("a.png"),))
    assert after("explain a.png", step).text == "`a.png` is an image, and I can only read text."


def test_a_guessed_folder_that_is_none_belongs_to_the_phrase() -> None:
    first = after("find cat in hat")
    missing = done("hat does not exist.", calls=first.calls, is_error=True)
    second = after("find cat in hat", missing)
    assert second.calls[0].arguments == {
        "pattern": "cat in hat",
        "ignoreCase": True,
        "literal": True,
    }


def test_a_remark_of_a_tool_is_passed_on() -> None:
    call = after("find key").calls
    notice = "1 file that matches was held back: they may hold secrets."
    reply = after("find key", done(f"No line matches.\n\n[{notice}]", calls=call))
    assert reply.text.endswith(f"The tool adds: {notice}")


@pytest.mark.parametrize("question", ["What is the meaning of life?", "生命的意义是什么？"])
def test_what_is_not_understood_gets_a_plain_answer(question: str) -> None:
    reply = plan([user(question)], TOOLS)
    assert "demo/reader" in reply.text
    assert "--model" in reply.text
    assert not reply.calls


def test_no_messages_give_a_plain_answer_too() -> None:
    assert plan([], TOOLS).text


def test_a_data_tool_is_preferred_for_tables() -> None:
    tools = (*TOOLS, "data")
    question = user("how many rows and columns does a.csv have?")
    reply = plan([question], tools)
    assert reply.calls == (Call("data", {"path": "a.csv"}),)
    report = done("CSV, 1,200 rows, 3 columns", calls=reply.calls)
    text = plan([question, *report], tools).text
    assert text.startswith("`a.csv` has 1,200 rows and 3 columns. `data` reports:")
    failed = done("No such tool", calls=reply.calls, is_error=True)
    assert plan([question, *failed], tools).calls == (read("a.csv"),)


def test_a_conversation_is_summarised_by_its_own_lines() -> None:
    text = (
        "<conversation>\n[User]: Read a.md\n\n[Assistant]: I will.\n\n"
        '[Assistant tool calls]: read(path="a.md")\n\n[Tool result]: secret\n\n'
        "[Assistant]: It is one.\n</conversation>\n\nSummarise the conversation."
    )
    assert plan([user(text)], ()).text == (
        '## Asked\n\n- Read a.md\n\n## Tools called\n\n- `read(path="a.md")`\n\n'
        "## Answered\n\n- I will.\n- It is one."
    )


def test_tables_and_logs_are_quoted_by_lines() -> None:
    for path in ("a.csv", "a.txt"):
        known = [user(f"Read {path}"), *done("id,town\n1,Ulm\n2,Bern\n", calls=(read(path),))]
        reply = plan([*known, says("Read."), user("Which line is about Bern?")], TOOLS)
        assert reply.text == f"`{path}`, line 3: 2,Bern"


def test_text_answers_before_code_that_has_the_same_words() -> None:
    text = '```py\nask("Which licence?")\n```\n\n## Licence\n\nMIT licence. Free.\n'
    known = [user("Read README.md"), *done(text, calls=(read("README.md"),)), says("Read.")]
    reply = plan([*known, user("Which licence?")], TOOLS)
    assert "`README.md`, line 7: MIT licence." in reply.text
    assert "ask(" not in reply.text
