from typing import get_args

import pytest
from page_checker import checked, static_problems

from agent_nb.render.markdown import Form, render_markdown


@pytest.fixture(params=get_args(Form))
def form(request: pytest.FixtureRequest) -> Form:
    return request.param


def test_tables_lists_tasks_and_emphasis_are_drawn(form: Form) -> None:
    html = render_markdown(
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- *so* **so** ~~no~~", form
    )
    page = checked(html)
    assert {"table", "th", "td", "ul", "li", "em", "strong", "s"} <= page.tags
    assert "☑ done" in page.text
    assert "text-align:right" in html


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick=alert(1)>b</b> </details></div>",
        "[a](javascript:alert(1)) [b](  javascript:alert(1)) <javascript:alert(1)>",
        "[a](data:text/html;base64,PHNjcmlwdD4=) [b](vbscript:x) [c](file:///etc/passwd)",
        "[a][r]\n\n[r]: javascript:alert(1)",
        '[a](https://a.example "\\" onmouseover=alert(1)")',
        "```<script>\n</pre><script>alert(1)</script>\n```",
        "$\\text{<img src=x onerror=alert(1)>}$ $\\href{javascript:alert(1)}{x}$",
        "$$\\style{position:fixed}{x}$$ $\\def\\x{\\href{javascript:alert(1)}{y}}\\x$",
        "| <script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | `</td>` |",
    ],
)
def test_hostile_markdown_is_inert(source: str, form: Form) -> None:
    page = checked(render_markdown(source, form))
    assert page.problems == []


def test_pictures_from_outside_are_named_and_not_loaded(form: Form) -> None:
    page = checked(render_markdown("![plot](https://a.example/p.png) ![x](p.png)", form))
    assert "img" not in page.tags
    assert page.text.strip() == "🖼 plot 🖼 x"
    assert page.links == ["https://a.example/p.png"]


def test_a_link_to_a_file_stays_text_and_says_where_it_leads(form: Form) -> None:
    html = render_markdown("[the data](data/a.csv)", form)
    assert '<span title="data/a.csv">the data</span>' in html


def test_links_open_elsewhere(form: Form) -> None:
    html = render_markdown("[a](https://a.example)", form)
    assert 'target="_blank"' in html
    assert "noopener" in html


def test_code_is_coloured_where_its_language_is_known(form: Form) -> None:
    mark = "agn-keyword" if form == "live" else "color:#9a5fd0"
    assert mark in render_markdown("```python\ndef f(): pass\n```", form)
    assert "<span" not in render_markdown("```no-such-language\ndef f(): pass\n```", form)


def test_headings_do_not_become_part_of_the_notebook() -> None:
    assert checked(render_markdown("# One\n\n## Two", "live")).tags == {"h3", "h4"}
    assert checked(render_markdown("# One\n\n## Two", "static")).tags == {"div"}


def test_the_static_form_uses_only_what_untrusted_notebooks_keep() -> None:
    blocks = (
        "# a",
        "1. *b* `c`",
        "> d",
        "| e |\n|---|\n| f |",
        "---",
        "```py\nx\n```",
        "$x$",
        "$$y$$",
    )
    source = "\n\n".join(blocks)
    assert static_problems(render_markdown(source, "static")) == []


@pytest.mark.parametrize("latex", ["$a^2$", "\\(a^2\\)", "$$a^2$$", "\\[a^2\\]", "$$\na^2\n$$"])
def test_mathematics_becomes_mathml_in_the_live_form(latex: str) -> None:
    assert "<msup>" in render_markdown(f"Text:\n{latex}\n\nmore", "live")


@pytest.mark.parametrize("latex", ["$a^2$", "\\(a^2\\)", "\\[a^2\\]"])
def test_mathematics_stays_latex_for_the_front_end_in_the_static_form(latex: str) -> None:
    html = render_markdown(latex, "static")
    assert "mathjax_process" in html
    assert "$a^2$" in html


def test_a_formula_over_several_lines_may_hold_what_looks_like_a_list() -> None:
    html = render_markdown("\\[\na\n+ b\n\\]", "live")
    assert "<li" not in html
    assert "<math" in html


@pytest.mark.parametrize("source", ["It costs $5 and $6.", "a $ b $ c", "$x", "$$\nnever closed"])
def test_money_and_half_formulas_stay_text(source: str, form: Form) -> None:
    page = checked(render_markdown(source, form))
    assert " ".join(page.text.split()) == " ".join(source.split())
    assert "math" not in page.tags


@pytest.mark.parametrize("latex", ["\\frac{", "}", "\\begin{matrix}", "x" * 5_000, "^"])
def test_a_formula_that_cannot_be_read_is_shown_as_it_is(latex: str) -> None:
    page = checked(render_markdown(f"before ${latex}$ after", "live"))
    assert page.problems == []
    assert page.text.startswith("before ")
    assert page.text.rstrip().endswith(" after")
