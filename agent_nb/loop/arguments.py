"""Parse the arguments of a finished tool call: strictly, after one repair.

Models write raw control characters and bad escapes inside strings. Those are mended, as pi does;
nothing else is: a text that breaks off is never completed, so that no half-written call runs.
Source: pi-ai 1.6.0, utils/json-parse (`parseToolCallArguments`, `repairJson`).
"""

import re
from collections.abc import Mapping
from typing import Any

from agent_nb.core import json_text

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_ODD = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\|[\x00-\x1f]')


def parse_arguments(text: str) -> tuple[Mapping[str, Any], str | None]:
    r"""Return the arguments, and None or what was wrong with the text.

    >>> parse_arguments('{"path": "a.txt"}')
    ({'path': 'a.txt'}, None)
    >>> parse_arguments('{"pattern": "\\d+"}')
    ({'pattern': '\\d+'}, None)
    >>> parse_arguments("")
    ({}, None)
    >>> parse_arguments('{"path": "a')[0]
    {}
    """
    if not text.strip():
        return {}, None
    try:
        parsed = _loads_with_repair(text)
    except (ValueError, RecursionError) as error:
        return {}, f"{error}\n\nReceived arguments:\n{text}"
    if not isinstance(parsed, dict):
        return {}, f"Tool arguments must be a JSON object\n\nReceived arguments:\n{text}"
    return parsed, None


def _loads_with_repair(text: str) -> Any:
    try:
        return json_text.loads(text)
    except ValueError:
        repaired = repair_strings(text)
        if repaired == text:
            raise
        return json_text.loads(repaired)


def repair_strings(text: str) -> str:
    r"""Escape raw control characters and lone backslashes inside the strings of a JSON text.

    >>> repair_strings('{"a": "x\ty"}')
    '{"a": "x\\u0009y"}'
    """
    return _STRING.sub(lambda match: _ODD.sub(_mend, match[0]), text)


def _mend(match: re.Match[str]) -> str:
    found = match[0]
    if found == "\\":
        return "\\\\"
    return found if found[0] == "\\" else f"\\u{ord(found):04x}"
