"""Folders and buckets: the file system that holds a place, and the path in it.

Places are written as people write them, so a local folder may hold blanks and '%', which a URI may not.
"""

from __future__ import annotations

import re

from pyarrow import fs

_LOCAL = re.compile(r"(?:file:(?://)?)?(/.*)", re.DOTALL)


def locate(place: str) -> tuple[fs.FileSystem, str]:
    """
    >>> locate("file:/my data/a"), locate("/my data/a")[1]
    ((<pyarrow._fs.LocalFileSystem object at ...>, '/my data/a'), '/my data/a')
    """
    if local := _LOCAL.fullmatch(place):
        return fs.LocalFileSystem(use_mmap=True), local[1]
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(place)
    return found


def read_bytes(place: str) -> bytes:
    """Read, not mapped: a mapped file that somebody cuts short ends the process that looks at it."""
    system, path = locate(place)
    if isinstance(system, fs.LocalFileSystem):
        system = fs.LocalFileSystem(use_mmap=False)
    with system.open_input_stream(path, compression=None) as file:
        return bytes(file.read())


def delete_folder(place: str) -> None:
    """With all that it holds, if it is there."""
    system, path = locate(place)
    if system.get_file_info(path).type == fs.FileType.Directory:
        system.delete_dir(path)
