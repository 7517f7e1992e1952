"""Looks at HTML the way an attacker would: what in it could run, load, or leave its place."""

from html.parser import HTMLParser

_VOID = frozenset({"br", "hr", "img", "input", "mspace", "mprescripts", "wbr"})
_KEPT_ATTRIBUTES = frozenset(
    {"class", "style", "dir", "lang", "open", "href", "title", "target", "rel", "src", "alt"}
)


class PageChecker(HTMLParser):
    """Collects tags, links and text, and every problem found."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.pieces: list[str] = []
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in {"href", "src"}:
                self.links.append(value or "")
            if name.startswith("on"):
                self.problems.append(f"<{tag} {name}>")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def checked(html: str) -> PageChecker:
    """Parse HTML; what is left open or could act is a problem."""
    page = PageChecker()
    page.feed(html)
    page.close()
    page.problems += [f"<{tag}> stays open" for tag in page.open]
    active = {"script", "style", "iframe", "object", "embed", "svg", "form", "base", "link", "meta"}
    page.problems += [f"<{tag}>" for tag in page.tags & active]
    page.problems += [
        link
        for link in page.links
        if not link.startswith(("https://", "http://", "mailto:", "data:image/"))
    ]
    return page


def static_problems(html: str) -> list[str]:
    """Problems of a static form, attributes that front ends take away among them."""
    page = checked(html)
    unkept = page.attributes - _KEPT_ATTRIBUTES - {"start"}
    return page.problems + sorted(unkept) + (["position"] if "position:" in html else [])
