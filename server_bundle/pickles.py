"""What a file of pickled weights claims to be, told before anything reads it."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path


class Damaged(ValueError):
    """The file is no whole archive; without a message."""


def is_compressed(path: Path) -> bool:
    """Whether the file is a zip archive that claims to hold more bytes than itself.

    ``torch.save`` stores and never compresses, and ``torch.load`` asks for the memory that an
    archive claims: gigabytes for a kilobyte. A file that is no archive is not compressed.

    Raises:
        Damaged: it is an archive that cannot be read.
        OSError: the file cannot be read.
    """
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            claimed = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error):
        raise Damaged from None
    return claimed > path.stat().st_size
