"""What views and static forms say, in the languages that ship: one JSON file each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one language; a place to fill is written `{n}`."""

    language: str
    catalogue: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return the sentence `key` with its places filled."""
        return self.catalogue[key].format(**values)

    def count(self, key: str, n: int) -> str:
        """Return the sentence for `n` of something.

        >>> words("en").count("tools", 1), words("en").count("tools", 1200)
        ('1 tool', '1,200 tools')
        """
        return self(f"{key}.one" if n == 1 else f"{key}.other", n=f"{n:,}")

    def seconds(self, duration_s: float) -> str:
        """Return a duration as people say it.

        >>> [words("en").seconds(s) for s in (0.004, 3.44, 62)]
        ['4 ms', '3.4 s', '1 min 2 s']
        """
        if duration_s < 0.1:
            return self("time.ms", n=round(duration_s * 1000))
        if duration_s < 9.95:
            return self("time.s", n=f"{duration_s:.1f}")
        whole = round(duration_s)
        if whole < 60:
            return self("time.s", n=whole)
        return self("time.min", m=whole // 60, s=whole % 60)

    def tokens(self, n: int) -> str:
        """Return a number of tokens, rounded.

        >>> words("en").tokens(950), words("en").tokens(1234)
        ('950 tokens', '1.2k tokens')
        """
        return self("tokens", n=rounded(n))


def rounded(n: int) -> str:
    """Return a count with three digits or so.

    >>> rounded(999), rounded(41_234), rounded(2_500_000)
    ('999', '41.2k', '2.5M')
    """
    if n < 1000:
        return str(n)
    if n < 999_950:
        return f"{n / 1000:.1f}k"
    return f"{n / 1_000_000:.1f}M"


@cache
def words(language: str) -> Words:
    """Return the words of a language tag such as "zh-CN"; English where it does not ship."""
    short = language.replace("_", "-").split("-")[0].lower()
    if short not in LANGUAGES:
        short = "en"
    data = files(__name__).joinpath(f"{short}.json").read_text(encoding="utf-8")
    return Words(short, json.loads(data))
