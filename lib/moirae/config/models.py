"""What can be configured: one frozen model a section, its defaults being those of the embedded profile.

A loaded configuration is complete and the same from every folder: relative paths are relative to the working directory
and made absolute here, `{store}` is replaced by the store's place, and counts that follow from the cores are filled in.
A secret is held as a reference to the environment, never as a value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, cast, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from moirae.errors import ConfigError
from moirae.model.units import parse_duration, parse_size, show_duration, show_size

_LITERAL_SECRET = "a secret may not be written here; put it in an environment variable and write 'env:NAME'"


class ClashError(ValueError):
    """Settings that do not go together: `keys` names them, the one to change first."""

    def __init__(self, keys: tuple[str, ...], problem: str, remedy: str) -> None:
        self.keys = keys
        super().__init__(f"{problem}; {remedy}")


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference `env:NAME`: what is shown, logged and stored. The value is read only by `reveal`."""

    name: str

    @classmethod
    def parse(cls, value: object) -> Secret:
        """
        >>> Secret.parse("env:PASSWORD")
        Secret(name='PASSWORD')
        >>> Secret.parse("hunter2")
        Traceback (most recent call last):
        ...
        ValueError: a secret may not be written here; put it in an environment variable and write 'env:NAME'
        """
        if isinstance(value, Secret):
            return value
        if not isinstance(value, str) or not cls.written_in(value):
            raise ValueError(_LITERAL_SECRET)  # without the value: it may be the secret itself
        return cls(value.removeprefix("env:"))

    @staticmethod
    def written_in(text: str) -> bool:
        return re.fullmatch(r"env:[A-Za-z_][A-Za-z0-9_]*", text) is not None

    def reveal(self, environment: Mapping[str, str] = os.environ) -> str:
        value = environment.get(self.name, "")
        if not value:
            raise ConfigError(f"environment {self.name}", "", "is not set", f"export {self.name} with the secret")
        return value

    def __str__(self) -> str:
        return f"env:{self.name}"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        shown = core_schema.to_string_ser_schema(when_used="json")
        return core_schema.no_info_plain_validator_function(cls.parse, serialization=shown)


def _with_unit(parse: Callable[[str], int], example: str) -> Callable[[object], int]:
    def read(value: object) -> int:
        if not isinstance(value, str):
            found = "nothing" if value is None else repr(value)
            raise ValueError(f"{found} has no unit; write a number and a unit, such as '{example}'")
        return parse(value)

    return read


def _spell_size(size: int) -> str:
    """The short spelling where it is exact, so that what is shown can be read back."""
    text = show_size(size).replace(".0 ", " ")
    return text if parse_size(text) == size else f"{size} B"


def _nothing(value: object) -> object:
    return None if isinstance(value, str) and value.strip().lower() in ("", "none", "null") else value


def _template(value: str) -> str:
    unknown = [name for name in re.findall(r"\{[^}]*\}", value) if name != "{store}"]
    if unknown:
        raise ValueError(f"'{unknown[0]}' stands for nothing; only '{{store}}', the store's place, may be used")
    return value


Duration = Annotated[
    int, BeforeValidator(_with_unit(parse_duration, "5 minutes")), PlainSerializer(show_duration, when_used="json")
]
Size = Annotated[
    int, BeforeValidator(_with_unit(parse_size, "128 MiB")), PlainSerializer(_spell_size, when_used="json")
]
Template = Annotated[str, AfterValidator(_template)]
OrNone = BeforeValidator(_nothing)  # 'none' written in a variable or an option means what null means in YAML


def local_path(place: str) -> Path | None:
    """The absolute path of `file:…` or of a bare path, relative to the working directory; none for another scheme."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", place)
    if scheme and scheme[1].lower() != "file":
        return None
    path = re.sub(r"^file:(//)?", "", place, flags=re.IGNORECASE)
    return Path(os.path.abspath(os.path.expanduser(path)))  # `..` is removed, links are kept


def _machine_cores() -> int:
    """What Spark's `local[*]` takes: the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Store(_Section):
    root: str = Field(
        "file:./.moirae",
        validate_default=True,
        description="where chunks, views and answers are kept: a folder (file:…) or a bucket (s3://…)",
    )
    endpoint: Annotated[str | None, OrNone] = Field(None, description="address of the S3 service; none is Amazon's own")
    credentials: Annotated[Secret | None, OrNone] = Field(
        None, description="reference to the S3 credentials, ACCESS_KEY:SECRET_KEY; none uses the machine's role"
    )

    @field_validator("root")
    @classmethod
    def _absolute(cls, root: str) -> str:
        if root.strip() in ("", "file:"):
            raise ValueError("no folder is named; write one, such as 'file:./.moirae'")
        if re.fullmatch(r"s3a?://[A-Za-z0-9][\w.-]*(/.*)?", root):
            return root.rstrip("/")
        path = local_path(root)
        if path is None:
            raise ValueError("is no place Moirae can store in; write a folder 'file:…' or a bucket 's3://…'")
        return f"file:{path}"

    @field_validator("endpoint")
    @classmethod
    def _address(cls, endpoint: str | None) -> str | None:
        if endpoint is not None and not re.match(r"https?://[^/@]+/?$", endpoint):
            raise ValueError("is not the address of a service; write it as 'http://host:port', without credentials")
        return endpoint

    @property
    def local(self) -> bool:
        return self.root.startswith("file:")

    @property
    def path(self) -> Path:
        """The store's folder, absolute. A bucket has none."""
        if not self.local:
            raise ConfigError(self.root, "store.root", "is not a folder of this machine", "use a store 'file:…'")
        return Path(self.root.removeprefix("file:"))

    @property
    def place(self) -> str:
        """What `{store}` stands for."""
        return str(self.path) if self.local else self.root


class Catalog(_Section):
    url: Template = Field(
        "sqlite:///{store}/catalog.db",
        description="database of streams, queries, chunks and tasks: SQLite or PostgreSQL",
    )
    password: Annotated[Secret | None, OrNone] = Field(None, description="reference to PostgreSQL's password")

    @field_validator("url")
    @classmethod
    def _without_password(cls, url: str) -> str:
        if not re.match(r"sqlite:///.|postgresql(\+psycopg)?://", url):
            raise ValueError("is not a catalog's URL; write 'sqlite:///path' or 'postgresql://user@host:port/name'")
        if re.search(r"://[^/@]*:.*@|[?&]password=", url):
            raise ValueError("carries a password; leave it out and write 'password: env:NAME' beside the URL")
        return url


class Spark(_Section):
    master: str = Field("local[2]", description="where Spark runs: local[N], local[*], or a cluster's master URL")
    cores: int = Field(0, ge=0, description="cores Spark may use; 0 takes them from master local[N]")
    driver_memory: Size = Field(parse_size("1 GiB"), ge=parse_size("512 MiB"), description="heap of each Spark driver")
    extra: dict[str, str] = Field(default_factory=dict, description="further Spark settings, by Spark's own names")

    @field_validator("master")
    @classmethod
    def _known_master(cls, master: str) -> str:
        if not re.fullmatch(r"local(\[([1-9]\d*|\*)\])?|yarn|(spark|k8s)://\S+", master):
            raise ValueError(
                f"'{master}' is no Spark master; write 'local[2]', 'local[*]', 'spark://host:7077' or 'yarn'"
            )
        return master

    @field_validator("extra")
    @classmethod
    def _no_literal_secrets(cls, extra: dict[str, str]) -> dict[str, str]:
        for name, value in extra.items():
            secret = re.search(r"secret|password|token|access\.?key", name, re.IGNORECASE)
            if (secret or value.startswith("env:")) and not Secret.written_in(value):
                raise ClashError((f"spark.extra.{name}",), *_LITERAL_SECRET.split("; "))
        return extra

    @model_validator(mode="after")
    def _count_cores(self) -> Self:
        keys = ("spark.cores", "spark.master")
        local = re.fullmatch(r"local(?:\[(.+)\])?", self.master)
        if not local and not self.cores:
            raise ClashError(
                keys, f"is not set, and master '{self.master}' does not tell", "write the cores Spark may use"
            )
        fixed = 0 if not local or local[1] == "*" else int(local[1] or 1)
        if fixed and self.cores not in (0, fixed):
            remedy = f"leave it out, or write master 'local[{self.cores}]'"
            raise ClashError(keys, f"is {self.cores}, but master '{self.master}' says {fixed}", remedy)
        object.__setattr__(self, "cores", fixed or self.cores or _machine_cores())
        return self

    def settings(self, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
        """`extra` with its references to secrets resolved: for Spark alone, never for showing."""
        return {
            name: Secret.parse(value).reveal(environment) if value.startswith("env:") else value
            for name, value in self.extra.items()
        }


class Ingest(_Section):
    landing: Template = Field(
        "{store}/landing", description="folder with one subfolder a stream, where files are dropped"
    )
    tables: Template = Field("{store}/tables", description="folder of the files of static tables")
    trigger: Duration = Field(0, description="least time between two micro-batches; 0 s is as fast as possible")
    poll: Duration = Field(parse_duration("200 ms"), gt=0, description="how often an idle stream looks for new files")
    max_files_per_batch: int = Field(1000, gt=0, description="files of one micro-batch at most")
    small_batch: Size = Field(
        parse_size("4 MiB"),
        description="micro-batches up to this size are run by the driver itself, without Spark's tasks",
    )
    max_ahead: Duration = Field(
        parse_duration("1 hour"), gt=0, description="rows further ahead of their file's time are quarantined"
    )


class History(_Section):
    chunk_size: Size = Field(parse_size("128 MiB"), gt=0, description="a chunk is rolled when it reaches this size")
    chunk_age: Duration = Field(parse_duration("1 day"), gt=0, description="a chunk is rolled when it reaches this age")
    recent_chunks: int = Field(8, ge=0, description="newest sealed chunks that keep views and indexes")
    retention: Duration = Field(parse_duration("400 days"), gt=0, description="chunks older than this are deleted")
    grace: Duration = Field(
        parse_duration("1 hour"), description="how long files that were replaced stay for readers that began before"
    )

    @model_validator(mode="after")
    def _keeps_the_present(self) -> Self:
        if self.retention < self.chunk_age:
            kept, age = show_duration(self.retention), show_duration(self.chunk_age)
            problem = f"is {kept}, shorter than a chunk's age of {age}"
            raise ClashError(("history.retention", "history.chunk_age"), problem, f"keep at least {age}")
        return self


class Engine(_Section):
    buckets: int = Field(0, ge=0, description="buckets of operator state, and shuffle partitions; 0 is one a core")


class Recall(_Section):
    poll: Duration = Field(parse_duration("200 ms"), gt=0, description="how often new events are looked for")
    report_every: Duration = Field(
        parse_duration("2 s"), gt=0, description="a recall's revisions, unless it says otherwise"
    )
    turn_batch: int = Field(1000, gt=0, description="tasks that one turn answers together at most")


class Quality(_Section):
    folder: Path = Field(
        Path("config/quality"), validate_default=True, description="folder of the rules for rows, a file a stream"
    )
    max_bad_share: float = Field(0.01, ge=0, le=1, description="a chunk with a larger share of bad rows is held back")

    @field_validator("folder")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return Path(os.path.abspath(folder.expanduser()))


class Airflow(_Section):
    port: Annotated[int | None, OrNone] = Field(
        None, ge=1, le=65535, description="port of Airflow's pages; none takes a free one"
    )
    schedule: Annotated[str | None, OrNone] = Field(
        "@hourly", description="when the history lifecycle runs, as cron; none is only when triggered"
    )

    @field_validator("schedule")
    @classmethod
    def _cron(cls, schedule: str | None) -> str | None:
        if schedule is not None and not re.fullmatch(r"@(hourly|daily|weekly|monthly)|\S+( +\S+){4}", schedule):
            raise ValueError(f"'{schedule}' is no schedule; write '@hourly', '@daily' or cron's five fields")
        return schedule


class Config(_Section):
    store: Store = Field(default_factory=Store)
    catalog: Catalog = Field(default_factory=Catalog)
    spark: Spark = Field(default_factory=Spark)
    ingest: Ingest = Field(default_factory=Ingest)
    history: History = Field(default_factory=History)
    engine: Engine = Field(default_factory=Engine)
    recall: Recall = Field(default_factory=Recall)
    quality: Quality = Field(default_factory=Quality)
    airflow: Airflow = Field(default_factory=Airflow)

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Fill in what follows from other sections."""
        url = self.catalog.url
        if not self.store.local and url.startswith("sqlite:") and "{store}" in url:
            problem = f"SQLite cannot live in '{self.store.root}'"
            raise ClashError(("catalog.url", "store.root"), problem, "write the URL of a PostgreSQL database")
        folders = {name: self._folder(getattr(self.ingest, name)) for name in ("landing", "tables")}
        changes: dict[str, tuple[_Section, dict[str, Any]]] = {
            "catalog": (self.catalog, {"url": url.replace("{store}", self.store.place)}),
            "ingest": (self.ingest, folders),
            "engine": (self.engine, {"buckets": self.engine.buckets or self.spark.cores}),
        }
        for name, (section, update) in changes.items():
            object.__setattr__(self, name, section.model_copy(update=update))  # frozen from here on
        return self

    def _folder(self, template: str) -> str:
        place = template.replace("{store}", self.store.place)
        path = local_path(place)
        return place if path is None else str(path)

    def with_sources(self, sources: Mapping[str, str]) -> Config:
        """The same values, remembering where each key that is not a default came from."""
        copy = self.model_copy()
        copy._sources = dict(sources)
        return copy

    def source(self, key: str) -> str:
        return self._sources.get(key, "default")


def known_settings() -> dict[str, FieldInfo]:
    """Every `section.key` in the order of the models."""
    sections = {name: field.annotation for name, field in Config.model_fields.items()}
    return {
        f"{name}.{key}": field
        for name, section in sections.items()
        if isinstance(section, type) and issubclass(section, _Section)
        for key, field in section.model_fields.items()
    }


def is_open(field: FieldInfo) -> bool:
    """Whether the setting is a table whose keys are the user's own."""
    return get_origin(field.annotation) is dict


def spell(field: FieldInfo, value: object) -> str:
    """The value as it would be written in a file: with its unit, `none` for nothing."""
    with_unit = next((each for each in field.metadata if isinstance(each, PlainSerializer)), None)
    if with_unit and value is not None:
        return str(cast(Callable[[object], str], with_unit.func)(value))
    return "none" if value is None or value == {} else str(value)
