"""The static leaderboard page: one folder from ``data/`` alone, without server, network or build tools.

The table and the pictures are written by Python as plain HTML and SVG; a small script of our own adds sorting, filters,
details, comparison and the reader's own record: 37 kB, no library. The ones looked at are larger than the whole page
(Tabulator 6.5 is 448 kB, Observable Plot 0.6 with d3 490 kB, both minified), and Plot puts a style element into every
picture, which the page's content security policy forbids.
"""

from oruk_leaderboard.page.render import Page, build_page

__all__ = ["Page", "build_page"]
