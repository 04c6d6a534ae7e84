"""The page of a report: one HTML file without links to the outside, readable on paper, on a phone and in the dark."""

from __future__ import annotations

from dataclasses import dataclass

from ..markup import scroll_bars, text
from ..page import script_source

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src {script} 'wasm-unsafe-eval'; img-src data: blob:;"
    " connect-src 'none'; base-uri 'none'; form-action 'none'"
)
"""What the file may do: show what is in it, and run the one script of pages in its frames; there is no network."""

STYLE = """
:root { color-scheme: light dark; --ink: #1e293b; --soft: #64748b; --line: #e2e8f0; --paper: #ffffff; --tint: #f8fafc;
  --accent: #1d5fb8; --good: #15803d; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #dbe3ec; --soft: #94a3b8; --line: #2b3643; --paper: #12181f;
  --tint: #1a222c; --accent: #7db4f5; --good: #4ade80; --bad: #f87171; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 16px; }
main, header, footer, nav { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .35rem; letter-spacing: -.015em; }
h2 { font-size: 1.35rem; margin: 2.8rem 0 .7rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.7rem 0 .5rem; }
p { margin: .5rem 0 .8rem; max-width: 46rem; }
.about { color: var(--soft); font-size: 1.05rem; margin-top: 0; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
nav { font-size: .93rem; color: var(--soft); display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding-top: .6rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .7rem;
  margin: 1.3rem 0 .4rem; }
.figures div { border: 1px solid var(--line); background: var(--tint); border-radius: .55rem; padding: .65rem .85rem; }
.figures b { display: block; font-size: 1.2rem; letter-spacing: -.01em; font-variant-numeric: tabular-nums; }
.figures span { color: var(--soft); font-size: .84rem; line-height: 1.3; display: block; }
.scroll { margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .28rem .8rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: .82rem; }
.scroll td.w { white-space: normal; min-width: 5rem; max-width: 40rem; overflow-wrap: break-word; }
.scroll th { white-space: normal; }
th:first-child, td:first-child { padding-left: .1rem; }
.w { text-align: left; }
.ok { color: var(--good); font-weight: 600; } .no { color: var(--bad); font-weight: 700; } .soft { color: var(--soft); }
figure { margin: .8rem 0 1.3rem; } figure svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .88rem; margin-top: .35rem; max-width: 46rem; }
.pair { display: grid; grid-template-columns: minmax(15rem, 22rem) 1fr; gap: 1.6rem; align-items: start; }
.pair > * { min-width: 0; } .pair.even { grid-template-columns: 1fr 1fr; }
.wide svg { min-width: 34rem; }
.tree svg { min-width: 30rem; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; overflow: auto;
  font-size: .8rem; line-height: 1.5; max-height: 32rem;
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre .c { color: var(--soft); }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .88em; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); font-size: .93rem; }
math { font-size: 1.05rem; margin: .55rem 0; text-align: left; } .math { padding: .2rem 0; }
.chips { display: flex; flex-wrap: wrap; gap: .3rem .45rem; padding: 0; list-style: none; font-size: .85rem; }
.chips li { border: 1px solid var(--line); background: var(--tint); border-radius: .4rem; padding: .05rem .5rem; }
footer { color: var(--soft); font-size: .85rem; padding: 2.2rem 1.25rem 3rem; }
@media (max-width: 46rem) { .pair, .pair.even { grid-template-columns: 1fr; } h1 { font-size: 1.55rem; } }
@media print { iframe, nav { display: none; } pre { max-height: none; } }
""" + scroll_bars(":is(.scroll, .wide, .math, pre)")


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter of the page; `body` is HTML."""

    title: str
    body: str

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.title.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Page:
    """Title, a sentence about it, key figures (value, what it is), chapters, a last line; plain text but for bodies."""

    title: str
    about: str
    figures: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    closing: str

    def html(self) -> str:
        """The whole file."""
        figures = "".join(f"<div><b>{text(value)}</b><span>{text(what)}</span></div>" for value, what in self.figures)
        nav = "".join(f'<a href="#{s.anchor}">{text(s.title)}</a>' for s in self.sections)
        body = "".join(
            f'<section id="{s.anchor}"><h2>{text(s.title)}</h2>\n{s.body}</section>\n' for s in self.sections
        )
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<title>{text(self.title)}</title>\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.replace("{script}", script_source())}">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>{STYLE}</style></head>\n"
            f'<body><header><h1>{text(self.title)}</h1><p class="about">{text(self.about)}</p>'
            f'<div class="figures">{figures}</div></header>\n<nav>{nav}</nav>\n<main>\n{body}</main>\n'
            f"<footer>{text(self.closing)}</footer></body></html>\n"
        )


def figure(svg: str, caption: str = "", kind: str = "wide") -> str:
    """An inline drawing with its caption."""
    words = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return f'<figure><div class="{kind}">{svg}</div>{words}</figure>\n'


def closing_line() -> str:
    """The last line of a report: what wrote it, and in which units."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("kane")
    except PackageNotFoundError:
        number = "?"
    return f"kane {number}. Units are SI, angles in radians. This file is complete: it asks no network for anything."
