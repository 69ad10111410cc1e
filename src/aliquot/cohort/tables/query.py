"""Tables from databases: one SELECT, which changes nothing.

Who asks is said by the environment, never by the address, so that no plan, log or message can hold a password.
"""

import os
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

import numpy as np
import pandas as pd

from aliquot.cohort.checks import check_names
from aliquot.cohort.found import Found
from aliquot.cohort.tables.cells import tidy
from aliquot.cohort.tables.table import Table
from aliquot.errors import AliquotError, FileError, SettingsError

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

USER, PASSWORD = "ALIQUOT_DATABASE_USER", "ALIQUOT_DATABASE_PASSWORD"

_DUCKDB = "duckdb:///"
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")
_SECRET = re.compile(r"(?i)(pass|pwd|token|secret|credential|api_?key|private_?key)\w*\s*=|uid\s*=|user\w*\s*=")
_ASIDE = re.compile(  # texts, quoted names and comments: what is in them is no statement
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL
)
_CHANGES = re.compile(
    r"(?i)\b(insert|update|delete|merge|replace\s+into|into|create|alter|drop|truncate|grant|revoke|copy|attach|detach"
    r"|pragma|call|exec|execute|do|set|vacuum|lock|load|install|export|import)\b"
)
_READ_ONLY = {  # said at the start of the transaction, by the kind of database
    "sqlite": "PRAGMA query_only = ON",
    "postgresql": "SET TRANSACTION READ ONLY",
    "mysql": "SET TRANSACTION READ ONLY",
    "mariadb": "SET TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
}


@dataclass(frozen=True)
class Query:
    """One SELECT and the database that answers it: an address without user and password, or a DuckDB file.

    >>> Query("SELECT * FROM stays", "postgresql://db.local/icu").file is None
    True
    """

    sql: str
    database: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", _address(self.database))
        _check_select(self.sql)

    @property
    def file(self) -> Path | None:
        """The file that the database is in, if it is in one."""
        for scheme in (_DUCKDB, "sqlite:///"):
            if self.database.startswith(scheme):
                return Path(self.database.removeprefix(scheme))
        return None


def read_query(query: Query) -> Table:
    """What the database answers, its rows in an order made of their cells, since a database promises none."""
    if query.file is not None and not query.file.exists():
        raise FileError(f"the database {str(query.file)!r} does not exist; check the name and the folder")
    try:
        frame = (_ask_duckdb if query.database.startswith(_DUCKDB) else _ask)(query)
    except (AliquotError, MemoryError):
        raise
    except Exception:  # messages of drivers quote statements, addresses and cells
        raise FileError(
            f"the database did not answer the query; check the address, the SELECT, and {USER} and {PASSWORD} in the "
            "environment"
        ) from None
    frame = tidy(frame)
    order = np.argsort(pd.util.hash_pandas_object(frame, index=False).to_numpy(), kind="stable")
    return Table(frame.iloc[order].reset_index(drop=True), Found(format="database"))


def _ask_duckdb(query: Query) -> pd.DataFrame:
    duckdb = _needed("duckdb")
    statements = duckdb.extract_statements(query.sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise _not_a_select()
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(str(query.file), read_only=True, config=config) as connection:
        answer = connection.execute(query.sql)
        check_names([column[0] for column in answer.description])
        return answer.df()


def _ask(query: Query) -> pd.DataFrame:
    alchemy = _needed("sqlalchemy")
    engine = alchemy.create_engine(_with_user(alchemy.make_url(query.database)))
    try:
        with engine.connect() as connection:
            _read_only(connection)
            answer = connection.execution_options(no_parameters=True).exec_driver_sql(query.sql)
            names = [str(name) for name in answer.keys()]  # noqa: SIM118 (a result is no dictionary)
            check_names(names)
            frame = pd.DataFrame([tuple(row) for row in answer], columns=pd.Index(names), dtype=object)
            connection.rollback()
            return frame
    finally:
        engine.dispose()


def _with_user(address: "URL") -> "URL":
    """The address with user and password of the environment, where it names a host."""
    if not address.host:
        return address
    return address.set(username=os.environ.get(USER), password=os.environ.get(PASSWORD))


def _read_only(connection: "Connection") -> None:
    said = _READ_ONLY.get(connection.dialect.name)
    if said is not None:
        connection.exec_driver_sql(said)


def _address(database: str) -> str:
    """The address as a plan may hold it: absolute where it is a file, and without user and password."""
    scheme = _SCHEME.match(database)
    rest = database[scheme.end() :] if scheme else ""
    if scheme and ("@" in rest or _SECRET.search(unquote_plus(rest))):
        raise SettingsError(
            "asked for a database by an address with a user or password, which would be kept and shown; leave them "
            f"out of it (database=…), and put them into the environment as {USER} and {PASSWORD}"
        )
    if scheme is None:
        return f"{_DUCKDB}{Path(database).resolve()}"
    if scheme[0] in ("duckdb://", "sqlite://"):
        return f"{scheme[0]}/{Path(rest.removeprefix('/')).resolve()}"
    return database


def _check_select(sql: str) -> None:
    """Raise an error unless the text is one SELECT; what databases do with it is made read-only as well."""
    words = _ASIDE.sub(" ", sql).strip().rstrip(";").strip()
    if not re.match(r"(?i)(select|with)\b", words) or ";" in words or _CHANGES.search(words):
        raise _not_a_select()


def _not_a_select() -> SettingsError:
    return SettingsError(
        "asked for a query (sql=…) that is not one SELECT; only a single statement that reads is run; quote names of "
        'columns that are also commands, as in "update"'
    )


def _needed(package: str) -> ModuleType:
    try:
        return import_module(package)
    except ImportError:
        raise FileError(
            f'asked for a database, which needs {package}; install it with: pip install "aliquot[sql]"'
        ) from None
