"""Rows from the future: a time further ahead of its file's than a clock may be wrong is not to be believed.

One such row would push the watermark on and make every honest row behind it late.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moirae.ingest.lines import Lines, kept
from moirae.ingest.moments import spell, spell_one
from moirae.ingest.parsed import Parsed, bad_table, in_order
from moirae.ingest.reader import LINE
from moirae.model.units import show_duration


def without_ahead(part: Parsed, lines: Lines, time: str, file_time_us: int, max_ahead_us: int) -> Parsed:
    """The part with the rows that are ahead moved to the bad ones; `lines` is the block they were read from."""
    at = part.rows.column(time).combine_chunks()
    ahead = pc.greater(at.cast(pa.int64()), file_time_us + max_ahead_us)
    if not pc.any(ahead).as_py():
        return part
    gone = part.rows.filter(ahead)
    number = gone.column(LINE).to_numpy()
    texts = lines.text.take(pa.array(number - lines.number[0])).to_pylist()
    limit = f"is more than {show_duration(max_ahead_us)} ahead of the file's time {spell_one(file_time_us)}"
    reasons = [f"{time}: {shown} {limit}" for shown in spell(gone.column(time).combine_chunks()).to_pylist()]
    found = zip(np.asarray(number).tolist(), (kept(text.decode()) for text in texts), reasons, strict=True)
    return Parsed(part.rows.filter(pc.invert(ahead)), in_order([part.bad, bad_table(found)], "line"))
