"""`moirae event --follow`: the answer as it is revised, to its end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace

from tests.unit.cli.calling import Cli, plain
from tests.unit.cli.filled import ASKING, DONE, NOW, WAITING, catalog_at, turn

from moirae.adapters.catalog import SqlCatalog

_PATIENCE_S = 20


def meanwhile(cli: Cli, *steps: Callable[[SqlCatalog], object]) -> threading.Thread:
    """Take one step after the other, each only once the command has looked at what was there before it.

    The command asks the clock and then reads, so it has read between two of its questions.
    """
    asked = threading.Semaphore(0)

    def clock() -> int:
        asked.release()
        return NOW

    def work() -> None:
        with catalog_at(cli.store) as catalog:
            for step in steps:
                while asked.acquire(blocking=False):
                    pass  # asked before the last step was done
                for _ in range(3):  # a whole look at least, also where drawing asks the clock, too
                    assert asked.acquire(timeout=_PATIENCE_S)
                step(catalog)

    cli.clock = clock
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def save(days: float, seq: int, complete: bool = False) -> Callable[[SqlCatalog], object]:
    return lambda catalog: catalog.save_turns([turn(ASKING, complete=complete, days=days, mean=400.0 + seq, seq=seq)])


def test_following_a_complete_answer_shows_it_once(cli: Cli) -> None:
    """M14: there is nothing to wait for; with --json that is one line, the same as without --follow."""
    found = cli("event", DONE, "--follow", "--json")
    assert (found.exit_code, found.stderr, found.stdout.count("\n")) == (0, "", 1)
    assert json.loads(found.stdout) == cli.json("event", DONE)
    assert cli.lines("event", DONE, "--follow") == cli.lines("event", DONE)


def test_every_revision_is_a_line_of_json_until_the_answer_is_complete(cli: Cli) -> None:
    """M14, M16: estimates come with the interval they cover, and the last one says that it is the last."""
    worker = meanwhile(cli, save(2, 2), save(4, 3, complete=True))
    found = cli("event", ASKING, "--follow", "--json")
    worker.join()
    recalls = [json.loads(line)["recalls"][0] for line in found.stdout.splitlines()]
    assert [each["revision"] for each in recalls] == [1, 2, 3]
    assert [each["state"] for each in recalls] == ["asking", "asking", "complete"]
    assert [each["rows"][0]["mean"] for each in recalls] == [420.0, 402.0, 403.0]
    shares = [each["share"] for each in recalls]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_following_in_a_pipe_prints_each_new_answer_whole(cli: Cli) -> None:
    """P6: no movements of a cursor where there is none, and nothing twice."""
    worker = meanwhile(cli, save(4, 2, complete=True))
    lines = cli.lines("event", ASKING, "--follow")
    worker.join()
    told = [line for line in lines if line.startswith("usual v1")]
    assert [line.split(",")[1].strip() for line in told] == ["revision 1", "revision 2"]
    assert "\x1b" not in "".join(lines)


def test_following_on_a_terminal_redraws_in_place_and_ends_complete(cli: Cli) -> None:
    """M14, P6: the old answer is gone over, the last one stays."""
    worker = meanwhile(cli, save(4, 2, complete=True))
    screen = cli.screen("event", ASKING, "--follow")
    worker.join()
    before, _, after = screen.rpartition("\x1b[1A")
    assert "asking" in before
    last = plain(after)
    assert any(line.startswith("usual v1  complete") and "revision 2" in line for line in last)
    assert any(line.endswith("100 %") for line in last)
    assert not any("asking" in line for line in last)


def test_following_ends_when_a_recall_stops_for_good(cli: Cli) -> None:
    """M13: a cancelled recall will not be revised; waiting on would be for ever."""
    cancelled = replace(turn(WAITING, complete=False, days=1, mean=1.0), state="cancelled")
    worker = meanwhile(cli, lambda catalog: catalog.save_turns([cancelled]))
    found = cli("event", WAITING, "--follow", "--json")
    worker.join()
    states = [json.loads(line)["recalls"][0]["state"] for line in found.stdout.splitlines()]
    assert states[0] == "asking"
    assert states.index("stopped") == len(states) - 1


def test_following_notices_that_the_recall_is_undeployed(cli: Cli) -> None:
    """M9: what it asked for is forgotten with it; the recall comes to its end all the same."""
    worker = meanwhile(cli, lambda catalog: catalog.undeploy("usual", NOW), save(4, 2, complete=True))
    found = cli("event", ASKING, "--follow", "--json")
    worker.join()
    looks = [json.loads(line)["recalls"][0] for line in found.stdout.splitlines()]
    assert [each["asked_from"] is None for each in looks] == [False, True, True]
    assert looks[-1]["state"] == "complete"
