"""Pages that show a mechanism and let it be touched: one HTML file each, which needs nothing but a browser.

`scene` says what is seen, `live` and `recording` what moves it, `document` makes the file of it. What runs in the page,
`component.js`, is built from the folder `web` of the sources and ships with the package.
"""

from .content import Described, live_page, recorded_page, remote_page

__all__ = ["Described", "live_page", "recorded_page", "remote_page"]
