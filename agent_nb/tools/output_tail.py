"""The end of a command's output, in bounded memory; all of it in a file if it is long.

Source of the rules: pi 1.6.0, `core/tools/output-accumulator.ts`.
"""

import codecs
import logging
import tempfile
import threading
from dataclasses import replace
from io import FileIO
from typing import Any

from agent_nb.tools.truncate import MAX_BYTES, MAX_LINES, Truncation, truncate_tail

MOST_FILE_BYTES = 256 << 20
"""What is kept of an output in its file; pi keeps all, until the disk is full."""

_log = logging.getLogger(__name__)


class OutputTail:
    """Takes output in pieces and keeps what can be shown of it.

    Bytes that are not UTF-8 become U+FFFD; a character cut in two by the pieces stays whole.

    Attributes:
        full_output_path: Where all of it is, byte for byte; None while it is short.
        full_output_cut: Just its start is there, for it was too long even for a file.
        last_line_bytes: Length of the last line.
    """

    def __init__(self, most_file_bytes: int = MOST_FILE_BYTES) -> None:
        self.full_output_path: str | None = None
        self.full_output_cut = False
        self._room_bytes = most_file_bytes
        self.last_line_bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tail = bytearray()
        self._tail_starts_line = True
        self._newlines = 0
        self._total_bytes = 0
        self._raw = bytearray()
        self._file: FileIO | None = None
        self._may_spill = True
        self._lock = threading.Lock()  # pieces are added in a thread, which an abort leaves behind

    def append(self, data: bytes) -> None:
        """Add a piece."""
        with self._lock:
            self._keep(data)
            self._take(self._decoder.decode(data).encode())
            if self._is_long and self._file is None and self._may_spill:
                self._spill()

    def finish(self) -> None:
        """Add what is left of an unfinished character, and close the file."""
        with self._lock:
            self._take(self._decoder.decode(b"", final=True).encode())
            if self._file is not None:
                self._file.close()
            self._file, self._may_spill = None, False

    @property
    def truncation(self) -> Truncation:
        """What can be shown, and how much there is."""
        with self._lock:
            return self._truncate()

    def _truncate(self) -> Truncation:
        shown = truncate_tail(self._whole_lines())
        limit = shown.truncated_by or ("bytes" if self._total_bytes > MAX_BYTES else "lines")
        return replace(
            shown,
            truncated_by=limit if self._is_long else None,
            total_lines=self._lines,
            total_bytes=self._total_bytes,
        )

    def details(self) -> dict[str, Any] | None:
        """The facts for a result's details; None while nothing is missing."""
        truncation = self.truncation
        if not truncation.truncated:
            return None
        return {"truncation": truncation.details(), "fullOutputPath": self.full_output_path}

    @property
    def _lines(self) -> int:
        return self._newlines + (self.last_line_bytes > 0)

    @property
    def _is_long(self) -> bool:
        return self._total_bytes > MAX_BYTES or self._lines > MAX_LINES

    def _take(self, text: bytes) -> None:
        self._total_bytes += len(text)
        self._newlines += text.count(b"\n")
        last = text.rfind(b"\n")
        self.last_line_bytes = len(text) + (self.last_line_bytes if last < 0 else -last - 1)
        self._tail += text
        if len(self._tail) > 4 * MAX_BYTES:
            cut = len(self._tail) - 2 * MAX_BYTES
            self._tail_starts_line = self._tail[cut - 1 : cut] == b"\n"
            del self._tail[:cut]

    def _whole_lines(self) -> str:
        """Return the kept text from its first whole line on, or all if it is part of one line."""
        tail = self._tail
        if not self._tail_starts_line:
            tail = tail[tail.find(b"\n") + 1 :] or tail
        return tail.decode("utf-8", "ignore")  # of a character cut in two nothing is shown

    def _keep(self, data: bytes) -> None:
        if self._file is not None:
            self._write(data)
        elif self._may_spill:
            self._raw += data

    def _spill(self) -> None:
        try:
            # Readable by the user alone; kept, so that the model can look into it.
            descriptor, path = tempfile.mkstemp(prefix="agent-nb-bash-", suffix=".log")
        except OSError as error:
            self._give_up(error)
            return
        self._file, self.full_output_path = FileIO(descriptor, "w"), path
        self._write(self._raw)
        self._raw.clear()

    def _write(self, data: bytes | bytearray) -> None:
        assert self._file is not None
        self.full_output_cut = self.full_output_cut or len(data) > self._room_bytes
        try:
            self._file.write(data[: self._room_bytes])
        except OSError as error:
            self._file.close()
            self._give_up(error)
        self._room_bytes = max(0, self._room_bytes - len(data))

    def _give_up(self, error: OSError) -> None:
        """Go on without the file: a full disk must not fail the command."""
        _log.warning("The full output of a command is not kept: %s", error)
        self._file, self._may_spill, self.full_output_path = None, False, None
        self._raw.clear()
