"""What was made of many files, as one table. Pure.

Stored as parquet: a row a value, those of one file after those of another. The files, and the
series that the values count in, are in its metadata, as JSON.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from observatory.record.columns import (
    COLUMN_NAMES,
    Columns,
    Ints,
    Series,
    SeriesList,
    joined,
)

# Arrow's own pools keep what they once had: with them a reader is some 15 MB larger.
pa.set_memory_pool(pa.system_memory_pool())

_SERIES, _FILES = b"series", b"files"
_WRITING = {
    "compression": "zstd",
    "data_page_size": 64 * 2**10,  # each of the columns buffers a page
    "use_dictionary": False,
    "write_statistics": False,
}


class Signature(NamedTuple):
    """What `stat` says of a file that changes when the file does. Bytes and nanoseconds."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


def signature_of(found: os.stat_result) -> Signature:
    """The signature of a file."""
    return Signature(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


class Entry(NamedTuple):
    """What is known of one file, apart from its values.

    ``head`` and ``problems`` are JSON, which whoever reads that kind of file understands; an empty
    ``head`` means that nothing could be read. ``checked_ns`` is when the signature was taken.
    """

    path: bytes
    signature: Signature
    checked_ns: int
    digest: bytes
    head: str
    problems: str


@dataclass(frozen=True)
class Block:
    """Files and their values: those of the first, those of the second, ..., ``lengths`` each."""

    entries: tuple[Entry, ...]
    lengths: Ints
    columns: Columns

    def rows_of(self, index: int) -> slice:
        """Where the values of one file are."""
        end = int(self.lengths[: index + 1].sum())
        return slice(end - int(self.lengths[index]), end)

    def only(self, kept: npt.NDArray[np.bool_]) -> Block:
        """The files for which ``kept`` is true."""
        entries = tuple(entry for entry, keep in zip(self.entries, kept, strict=True) if keep)
        return Block(entries, self.lengths[kept], self.columns.where(np.repeat(kept, self.lengths)))


def together(blocks: Sequence[Block]) -> Block:
    """Blocks, whose columns count in the same list of series, as one."""
    entries = tuple(entry for block in blocks for entry in block.entries)
    lengths = np.concatenate([np.empty(0, np.int32), *(block.lengths for block in blocks)])
    return Block(entries, lengths, joined([block.columns for block in blocks]))


def encoded(block: Block, series: SeriesList) -> bytes:
    """A block as a file; of ``series`` it holds those that it uses."""
    used, numbers = np.unique(block.columns.series, return_inverse=True)
    columns = block.columns.arrays()
    columns[0] = numbers.astype(np.int32)
    fields = [pa.field(name, pa.from_numpy_dtype(array.dtype), nullable=False)
              for name, array in zip(COLUMN_NAMES, columns, strict=True)]  # fmt: skip
    table = pa.table(list(map(_arrow, columns)), schema=pa.schema(fields))
    names = [[series.all[number].name, series.all[number].params] for number in used]
    lengths = block.lengths.tolist()
    files = [_plain(entry, many) for entry, many in zip(block.entries, lengths, strict=True)]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, **_WRITING) as writer:
        writer.write_table(table)
        # Not in the schema, which is written twice.
        writer.add_key_value_metadata({_SERIES: _packed(names), _FILES: _packed(files)})
    return bytes(sink.getvalue())


def parsed(content: bytes, series: SeriesList) -> Block:
    """A block from a file; its series are added to ``series``.

    Raises pyarrow.ArrowException, zlib.error, LookupError or ValueError for anything else.
    """
    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
    told = file.metadata.metadata
    files = _unpacked(told[_FILES])
    numbers = series.numbers(
        Series(name, tuple(map(tuple, params))) for name, params in _unpacked(told[_SERIES])
    )
    table = file.read(use_threads=False)
    columns = Columns(*(_numpy(table.column(name)) for name in COLUMN_NAMES))
    lengths = np.array([one[-1] for one in files], np.int32)
    if lengths.sum() != len(columns):
        raise ValueError("the files do not have as many values as there are")
    return Block(tuple(map(_entry, files)), lengths, columns.renumbered(numbers))


# Arrow's own conversions import pandas, which those who read columns have no other use for.


def _arrow(array: npt.NDArray[Any]) -> pa.Array:
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(array.dtype), len(array), [None, pa.py_buffer(array)]
    )


def _numpy(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    dtype = np.dtype(column.type.to_pandas_dtype())
    parts = [
        np.frombuffer(part.buffers()[1], dtype, len(part), part.offset * dtype.itemsize)
        for part in column.chunks
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def _plain(entry: Entry, length: int) -> list[Any]:
    """What JSON can hold; every byte of a path is a character of latin-1."""
    return [
        entry.path.decode("latin-1"), list(entry.signature), entry.checked_ns, entry.digest.hex(),
        entry.head, entry.problems, length,
    ]  # fmt: skip


def _entry(plain: list[Any]) -> Entry:
    path, signature, checked_ns, digest, head, problems, _ = plain
    return Entry(path.encode("latin-1"), Signature(*signature), checked_ns,
                 bytes.fromhex(digest), head, problems)  # fmt: skip


def _packed(content: list[Any]) -> bytes:
    return zlib.compress(orjson.dumps(content), level=1)


def _unpacked(content: bytes) -> list[Any]:
    found: list[Any] = orjson.loads(zlib.decompress(content))
    return found
