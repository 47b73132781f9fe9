"""`moirae explain`: all that is compiled from a pack, printed: what it means, what runs it, what recalls read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from moirae.cli.output import Json, print_json, say, visible
from moirae.cli.packs import PackFile
from moirae.cli.session import Session, catalog_file, session_of

if TYPE_CHECKING:
    from moirae.model.query import Pack, RecallDef
    from moirae.plan import DeployedEvent, Operator

Parts = dict[str, Any]  # as JSON has them


def register(app: typer.Typer) -> None:
    app.command("explain", epilog="Example: moirae explain config/queries/traffic.sql")(explain)


def explain(context: typer.Context, pack: PackFile, json: Json = False) -> None:
    """Print all that is compiled from a pack.

    What it means, its operators and kernels, the archives it needs and how its recalls read a chunk.
    """
    from moirae.cli.deploying import merged, read_pack, refuse_cascades
    from moirae.lang import bind

    known = _deployed(session_of(context))
    bound = bind(read_pack(pack), where=str(pack), known=known)
    refuse_cascades(merged(known, bound))
    parts = explain_pack(bound, merged(known, bound))
    if json:
        print_json(parts)
    else:
        for line in _text(parts).split("\n"):
            say(visible(line))


def _deployed(session: Session) -> Pack:
    """What is deployed, so that a pack may read it; nothing where no platform ever was."""
    from moirae.cli.deploying import bind_deployed
    from moirae.model.query import Pack

    config = session.config()
    file = catalog_file(config)
    if file is not None and not file.exists():
        return Pack()
    with session.catalog(config) as catalog:
        return bind_deployed(catalog.active())


def explain_pack(bound: Pack, whole: Pack) -> Parts:
    """The pack's own definitions; `whole` holds the streams that its queries read."""
    from dataclasses import replace

    from moirae.model.explain import explain as explain_bound
    from moirae.plan import plan_program

    own = replace(bound, streams=whole.streams)
    return {
        "bound": explain_bound(bound).rstrip(),
        "operators": [_operator(operator) for operator in plan_program(own).operators],
        "archives": _archives(bound, whole),
        "recalls": [_recall(recall, whole) for recall in bound.recalls],
    }


def _operator(operator: Operator) -> Parts:
    from moirae.engine.compile import compile_query

    def kernel(query: DeployedEvent) -> str:
        told = getattr(compile_query(query).kernel, "explain", None)
        return str(told()) if told else "no state: filter and projection, row by row"

    queries = [{"query": query.name, "kernel": kernel(query)} for query in operator.queries]
    return {"operator": operator.name, "reads": list(operator.columns), "queries": queries}


def _archives(bound: Pack, whole: Pack) -> list[Parts]:
    """The streams recalls read, and how far back."""
    from moirae.model.units import show_duration
    from moirae.recall.chunk_kernel import columns_needed

    times = {stream.name: stream.time for stream in whole.streams}
    found: list[Parts] = []
    for name in dict.fromkeys(recall.stream for recall in bound.recalls):
        recalls = [recall for recall in bound.recalls if recall.stream == name]
        spans = [recall.over_us for recall in recalls]
        longest = "all" if None in spans else f"last {show_duration(max(span or 0 for span in spans))}"
        columns = dict.fromkeys(c for recall in recalls for c in columns_needed(recall, times.get(name, "at")))
        found.append({"stream": name, "over": longest, "columns": list(columns), "for": [r.name for r in recalls]})
    return found


def _recall(recall: RecallDef, whole: Pack) -> Parts:
    from moirae.model.show import show
    from moirae.recall.chunk_kernel import columns_needed, plan_recall

    plan = plan_recall(recall)
    time = next((stream.time for stream in whole.streams if stream.name == recall.stream), "at")
    index = [f"{show(key)} = {show(wanted)}" for key, wanted in zip(plan.keys, plan.wanted, strict=True)]
    tested = [show(part) for part in plan.rest]
    return {"recall": recall.name, "index": index, "tested": tested, "reads": list(columns_needed(recall, time))}


def _text(parts: Parts) -> str:
    lines = [parts["bound"], ""]
    for operator in parts["operators"]:
        lines.append(f"operator {operator['operator']} reads {', '.join(operator['reads'])}")
        lines += [f"  {each['query']}: {each['kernel']}" for each in operator["queries"]]
    for archive in parts["archives"]:
        columns, readers = ", ".join(archive["columns"]), ", ".join(archive["for"])
        lines.append(f"archive {archive['stream']}: {archive['over']}, columns {columns}, for {readers}")
    for recall in parts["recalls"]:
        index = " and ".join(recall["index"]) or "time alone"
        lines.append(f"recall {recall['recall']} finds rows of a chunk by {index}")
        lines += [f"  then tests {part}" for part in recall["tested"]]
    return "\n".join(lines)
