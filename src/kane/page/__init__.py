"""Pages that show a mechanism and let it be touched: one HTML file each, which needs nothing but a browser.

`scene` says what is seen, `content` what moves it, `document` makes the file of it, `serving` gives it to a browser of
this machine. What runs in the page, `component.js`, is built from the folder `web` of the sources and ships with the
package.
"""

from .content import Described, MarkedPlace, MarkedWheels, Marks, live_page, recorded_page, remote_page
from .document import WrittenPage, frame, notebook_frame, script_source

__all__ = [
    "Described",
    "MarkedPlace",
    "MarkedWheels",
    "Marks",
    "WrittenPage",
    "frame",
    "live_page",
    "notebook_frame",
    "recorded_page",
    "remote_page",
    "script_source",
]
