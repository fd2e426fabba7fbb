"""Drawing: SVG that follows the reader's theme, and matplotlib plots. Takes plain values, knows no record or clip."""
