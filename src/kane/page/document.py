"""One HTML file: the component, what it shows as data, and a policy under which nothing leaves the page.

Texts of a model are data, never markup: they are inside JSON whose `<`, `>` and `&` are escaped, and the component puts
them on the page as text. The component is in the file compressed, a third of its size; a few lines unpack it into a
script of its own, and the policy allows these two scripts alone, each by its hash.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import html
import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import KaneError
from ..markup import DISTRUSTED_FRAME

if TYPE_CHECKING:
    _Concrete = Path
else:
    _Concrete = type(Path())  # before Python 3.12 only the class for this system can be made

COMPONENT = "component.js"

_CELL_HEIGHT = "30rem"
"""Of a page in a notebook."""

_POLICY = (
    "default-src 'none'; script-src {script} 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:;"
    " worker-src {worker}; connect-src {connect}; base-uri 'none'; form-action 'none'"
)

_UNPACK = (
    'const f=e=>{if(document.querySelector("kane-page[ready],kane-page[failed]"))return;'
    'const p=document.createElement("p");p.textContent="This page cannot be shown here: "+e.message;'
    'document.body.prepend(p)};addEventListener("error",f);'
    '(async()=>{const t=document.getElementById("kane-component").textContent;'
    "const b=Uint8Array.from(atob(t),c=>c.charCodeAt(0));"
    'const s=new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"));'
    'const e=document.createElement("script");e.textContent=await new Response(s).text();document.body.append(e)})()'
    ".catch(f)"
)
"""The script that makes the other one, and says why where that does not run. The policy compares the hash of what it
has unpacked, too."""

_STYLE = "html,body{margin:0;height:100%}kane-page{display:block;height:100%}"


def component() -> str:
    """The script of the page."""
    try:
        return (resources.files(__package__ or "") / COMPONENT).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise KaneError(
            f"{COMPONENT}, which runs in the page, is not there: it is built from the folder web of the sources"
            "\n    fix: pip install . there, with network, builds it and installs all of the package (or make setup)"
        ) from None


@functools.lru_cache(maxsize=1)
def _pack_script(script: str) -> str:
    return pack(script.encode())


def pack(content: bytes) -> str:
    """Bytes as text: compressed, the same bytes the same text."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def script_source() -> str:
    """The scripts of pages as a policy names them, by their hashes."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (_UNPACK, component()))
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def document(title: str, data: dict[str, Any], connect: str = "'none'") -> str:
    """The page of `data`, whose form is that of `web/src/data.ts`; it may connect to nobody, or to `connect`. Where it
    simulates, it may start a thread with a script of its own making; the policy holds there too."""
    worker = "blob:" if "live" in data else "'none'"
    policy = _POLICY.format(script=script_source(), worker=worker, connect=connect)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body><kane-page></kane-page>\n"
        f'<script type="application/json" id="kane-data">{as_script_data(data)}</script>\n'
        f'<script type="text/plain" id="kane-component">{_pack_script(component())}</script>\n'
        f"<script>{_UNPACK}</script>\n</body></html>\n"
    )


def frame(page: str, title: str, height: str) -> str:
    """A page inside another one: a frame that has all of it in itself, with no origin and no rights but to run its
    script and to hand out files; `height` is one of CSS."""
    inside = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe title="{html.escape(title)}" loading="lazy" sandbox="allow-scripts allow-downloads"'
        f' style="width:100%;height:{height};border:1px solid #94a3b855;border-radius:.5rem"'
        f' srcdoc="{inside}"></iframe>'
    )


def notebook_frame(page: str, title: str) -> str:
    """A page inside a cell of a notebook."""
    return DISTRUSTED_FRAME + frame(page, title, _CELL_HEIGHT)


class WrittenPage(_Concrete):
    """The path of a page that was written; a notebook shows the page itself."""

    def _repr_html_(self) -> str:
        return notebook_frame(self.read_text(encoding="utf-8"), self.name)


def as_script_data(data: Any) -> str:
    """JSON that may stand inside a script element whatever texts are in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
