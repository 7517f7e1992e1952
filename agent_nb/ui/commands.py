"""What the page sends back. Untrusted input: it is validated here and only here."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True)


class Hello(_Command):
    """A view exists that has seen everything up to `seq` and wants a snapshot."""

    kind: Literal["hello"] = "hello"
    seq: int = 0


class Stop(_Command):
    """The user wants the run to stop; the same `id` comes again until that shows."""

    kind: Literal["stop"] = "stop"
    id: str = Field("", max_length=100)


class Ack(_Command):
    """The view has drawn everything up to `seq`: sent for snapshots and for the end of a run."""

    kind: Literal["ack"] = "ack"
    seq: int


class UnknownCommand(_Command):
    """Something we do not understand, from a newer page or a broken one; `problem` says why."""

    kind: Literal["unknown"] = "unknown"
    problem: str


Command = Hello | Stop | Ack | UnknownCommand

_known: TypeAdapter[Hello | Stop | Ack] = TypeAdapter(
    Annotated[Hello | Stop | Ack, Field(discriminator="kind")]
)


def parse_command(data: Any) -> Command:
    """Return what the page asks for; what is not understood becomes an `UnknownCommand`.

    >>> parse_command({"kind": "hello", "seq": 3})
    Hello(kind='hello', seq=3)
    """
    try:
        return _known.validate_python(data)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        return UnknownCommand(problem=f"{where}: {problem['msg']}".removeprefix(": "))
