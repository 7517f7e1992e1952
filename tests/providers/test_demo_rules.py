import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.providers.demo.intent import (
    About,
    Ask,
    Continue,
    CountText,
    Decline,
    FindFile,
    Intent,
    Introduce,
    Join,
    ListFiles,
    Read,
    Search,
    ShowLines,
    TableShape,
)
from agent_nb.providers.demo.rules import parse
from agent_nb.providers.demo.wording import Language, kind_of

CSV, PYTHON, IMAGES = kind_of("csv"), kind_of("python"), kind_of("images")
README_3 = Introduce("README.md", 3)

REQUESTS: dict[str, tuple[Intent, ...]] = {
    # introducing
    "Please read README.md and introduce the project in three sentences.": (
        Introduce("README.md", 3, is_project=True),
    ),
    "please read `README.md` and summarise it in 2 sentences": (Introduce("README.md", 2),),
    "Summarise the readme": (Introduce("readme", 3),),
    "What is this project?": (Introduce(None, 3, is_project=True),),
    "Explain agent/core.py": (Introduce("agent/core.py"),),
    "what does core.py do?": (Introduce("core.py"),),
    "Give me the gist of 'my notes.txt' in one sentence": (Introduce("my notes.txt", 1),),
    "Summarise README.md in four bullet points": (Introduce("README.md", 4, as_list=True),),
    "Introduce README.md in Chinese": (Introduce("README.md", language="zh"),),
    "Summarise it again in a couple of sentences": (Introduce(None, 2),),
    "请读 README.md 并用三句话介绍这个项目。": (Introduce("README.md", 3, is_project=True),),
    "用两句话总结一下 docs/说明.md": (Introduce("docs/说明.md", 2),),
    "读取README.md，然后用5句话介绍项目": (Introduce("README.md", 5, is_project=True),),
    "这个项目是做什么的？": (Introduce(None, 3, is_project=True),),
    "README 里写了什么": (Introduce("README"),),
    # listing
    "Which CSV files are here?": (ListFiles(CSV),),
    "Which CSV files are here and how do they join?": (ListFiles(CSV), Join()),
    "how many Python files are there in src?": (ListFiles(PYTHON, "src", only_count=True),),
    "list all *.toml files": (ListFiles(kind_of("toml")),),
    "List the .rs files under src/lib": (ListFiles(kind_of("rust"), "src/lib"),),
    "list the files": (ListFiles(),),
    "what's here?": (ListFiles(),),
    "what is in src?": (ListFiles(None, "src"),),
    "how many files are in this folder?": (ListFiles(only_count=True),),
    "Are there any images?": (ListFiles(IMAGES),),
    "这里有哪些 CSV 文件，它们怎么关联？": (ListFiles(CSV), Join()),
    "有多少个 Python 文件": (ListFiles(PYTHON, only_count=True),),
    "列出所有图片": (ListFiles(IMAGES),),
    "src 目录下有什么文件": (ListFiles(None, "src"),),
    "which columns do a.csv and b.csv share?": (Join(("a.csv", "b.csv")),),
    "find setup.py": (FindFile("setup.py"),),
    "where is config.yaml?": (FindFile("config.yaml"),),
    # searching
    "find TODO": (Search("TODO"),),
    'find "hello world" in src': (Search("hello world", folder="src"),),
    "find cat in hat": (Search("cat", folder="hat", guessed="cat in hat"),),
    "find every occurrence of foo in *.py": (Search("foo", glob="*.py"),),
    "which files mention docker?": (Search("docker"),),
    "find the python files that import numpy": (Search("numpy", glob="*.py"),),
    "where is parse defined?": (Search("parse"),),
    "how many times does the word whale appear in moby.txt?": (
        Search("whale", "moby.txt", only_count=True),
    ),
    "search README.md for docker": (Search("docker", "README.md"),),
    'search "data.csv" in the notebooks': (Search("data.csv", glob="*.ipynb"),),
    "grep needle README.md": (Search("needle", "README.md"),),
    "find /fo+/": (Search("fo+", is_regex=True),),
    "在 src 目录里搜索 TODO": (Search("TODO", folder="src"),),
    "哪些文件提到了 docker": (Search("docker"),),
    "找出包含 “你好” 的行": (Search("你好"),),
    "鲸鱼 在 moby.txt 中出现了多少次": (Search("鲸鱼", "moby.txt", only_count=True),),
    # lines and counts
    "show lines 10 to 20 of x.py": (ShowLines("x.py", 10, 20),),
    "lines 5-7 of src/a.py": (ShowLines("src/a.py", 5, 7),),
    "show a.txt from line 9 to line 5": (ShowLines("a.txt", 5, 9),),
    "line 3 of x.py": (ShowLines("x.py", 3, 3),),
    "show the first ten lines of data.csv": (ShowLines("data.csv", 1, 10),),
    "last 5 lines of x.log": (ShowLines("x.log", from_end=5),),
    "tail -n 5 x.log": (ShowLines("x.log", from_end=5),),
    "显示 x.py 第 10 到 20 行": (ShowLines("x.py", 10, 20),),
    "显示 x.py 的前五行": (ShowLines("x.py", 1, 5),),
    "x.py 最后十二行": (ShowLines("x.py", from_end=12),),
    "how many rows and columns does data.csv have?": (TableShape("data.csv"),),
    "Can you tell me how many rows data.csv has?": (TableShape("data.csv"),),
    "How many records are there in data.csv?": (TableShape("data.csv"),),
    "How many columns has data.csv and what are they called?": (TableShape("data.csv"),),
    "what is the first row of data.csv?": (ShowLines("data.csv", 1, 2),),
    "data.csv 有几条记录？": (TableShape("data.csv"),),
    "compare a.md and b.md": (Decline("compare a.md and b.md"),),
    "data.csv 有多少行多少列？": (TableShape("data.csv"),),
    "data.csv 有多少行": (TableShape("data.csv"),),
    "x.py 有多少行？": (CountText("x.py", "lines"),),
    "count the words in README.md": (CountText("README.md", "words"),),
    "README.md 有多少字": (CountText("README.md", "words"),),
    "How many characters are in a.txt": (CountText("a.txt", "characters"),),
    "read x.py": (Read("x.py"),),
    "打开 x.py": (Read("x.py"),),
    "README.md?": (Read("README.md"),),
    "continue": (Continue(),),
    "继续": (Continue(),),
    # questions
    "and which licence?": (Ask("which licence", is_topical=True),),
    "how do I install it?": (Ask("how do I install it", is_topical=True),),
    "how do I find the docs?": (Ask("how do I find the docs"),),
    "它用什么许可证？": (Ask("它用什么许可证", is_topical=True),),
    # several at once
    "count the words in a.md and b.md": (CountText("a.md", "words"), CountText("b.md", "words")),
    "Read README.md. Which licence does it use?": (
        Ask("Which licence does it use", "README.md", is_topical=True),
    ),
    "Introduce README.md and tell me who maintains it": (
        README_3,
        Ask("tell me who maintains it", "README.md", is_topical=True),
    ),
    "List the CSV files, then count the rows of orders.csv": (
        ListFiles(CSV),
        TableShape("orders.csv"),
    ),
    "introduce README.md and deploy it to the moon": (
        README_3,
        Decline("deploy it to the moon"),
    ),
    # what it cannot do
    "write a poem": (Decline("write a poem"),),
    "把 README.md 翻译成英文": (Decline("把 README.md 翻译成英文"),),
    "Which files are the largest?": (Decline("Which files are the largest", "sizes"),),
    "hello": (About(was_greeted=True),),
    "你能做什么": (About(was_greeted=True),),
    "": (About(was_greeted=True),),
}


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_is_understood(text: str) -> None:
    assert parse(text).intents == REQUESTS[text]


@pytest.mark.parametrize(
    "text",
    [
        "introduce README.md in 3 sentences",
        "Could you please introduce README.md in 3 sentences, thanks!",
        "Introduce “README.md” in ３ sentences？",
        "INTRODUCE README.md IN THREE SENTENCES",
        "I would like you to introduce @README.md in three short sentences.",
    ],
)
def test_politeness_case_and_full_width_forms_change_nothing(text: str) -> None:
    assert parse(text).intents == (README_3,)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("find 你好 in the notes", Language.ENGLISH),
        ("summarise 说明.md", Language.ENGLISH),
        ("在 README.md 中查找 docker", Language.CHINESE),
        ("用一句话概括 README", Language.CHINESE),
        ("{}[]", Language.ENGLISH),
    ],
)
def test_the_language_is_that_of_the_request_and_not_of_its_names(
    text: str, language: Language
) -> None:
    assert parse(text).language is language


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None, database=None)
def test_any_text_gives_an_intent(text: str) -> None:
    assert parse(text).intents


WORDS = st.sampled_from(
    [
        *(
            "find",
            "read",
            "and then",
            "show",
            "lines 5 to",
            "README.md",
            '"a b"',
            "'*.py'",
            "in src",
        ),
        *(
            "how many",
            "CSV files",
            "然后",
            "查找",
            "在",
            "里",
            "第 3 行",
            "三句话",
            "介绍",
            "，",
            "。",
        ),
        *("?", "/x/", "`", "“", "”", "the", "of", "last", "it", "{}", "<b>"),
    ]
)


@given(st.lists(WORDS, max_size=12))
@settings(max_examples=300, deadline=None, database=None)
def test_any_jumble_of_its_own_words_gives_an_intent(words: list[str]) -> None:
    assert parse(" ".join(words)).intents
