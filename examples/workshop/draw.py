"""Pictures of what the simulator counts, as SVG, without any library. A notebook shows them; str(picture) is the text."""

LANES = BANKS = 32
SECTOR, WORD = 32, 4
USED, FREE, INK, MOST = "#2f6db3", "#d9e2ec", "#334e68", "#c05621"
PARTS = (("memory", "DRAM"), ("l2", "L2"), ("l1", "L1"), ("shared", "shared memory"), ("issue", "instructions"),
         ("latency", "waiting of warps"), ("blocks", "starting blocks"), ("launch", "the launch"))


class Picture:
    def __init__(self, width, height, *parts):
        self.svg = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="sans-serif" font-size="13">%s</svg>'
                    % (width, height, width, "".join(parts)))

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.svg


def box(x, y, width, height, color):
    return '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (x, y, width, height, color)


def text(x, y, words, anchor="start", color=INK):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return '<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>' % (x, y, anchor, color, words)


def sectors(addresses, size=WORD):
    """The numbers of the 32-byte sectors that an access of a warp touches; `addresses`: the byte that each of its threads asks for."""
    return sorted({(a + k) // SECTOR for a in addresses for k in range(size)})


def coalescing(addresses, size=WORD, title=""):
    """Memory as sectors of 32 bytes, 32 of them in a row; those that the warp's access touches are filled."""
    touched = sectors(addresses, size)
    first = touched[0] // 32 * 32
    rows = (touched[-1] - first) // 32 + 1
    parts = [text(0, 14, "%s: %d sectors of 32 bytes for one access of %d bytes" % (title or "a warp", len(touched), size * len(addresses)))]
    for s in range(first, first + 32 * rows):
        parts.append(box((s - first) % 32 * 20, 24 + (s - first) // 32 * 18, 18, 14, USED if s in touched else FREE))
    return Picture(640, 28 + 18 * rows, *parts)


def passes(addresses):
    """How often the shared memory is asked: the most different words that one bank has to give."""
    return max(len(words) for words in in_banks(addresses))


def in_banks(addresses):
    found = [set() for _ in range(BANKS)]
    for a in addresses:
        found[a // WORD % BANKS].add(a // WORD)
    return found


def banks(addresses, title=""):
    """The 32 banks of shared memory, with a box for each word that the warp asks of them."""
    most, room = passes(addresses), 8 if passes(addresses) > 8 else 14
    parts = [text(0, 14, "%s: %d pass%s" % (title or "a warp", most, "" if most == 1 else "es"))]
    for b, words in enumerate(in_banks(addresses)):
        for k in range(max(1, len(words))):
            parts.append(box(b * 20, 24 + (most - k - 1) * room, 18, room - 2, FREE if not words else USED if most == 1 else MOST))
        parts.append(text(b * 20 + 9, 40 + most * room, b, "middle"))
    return Picture(640, 46 + most * room, *parts)


def occupancy(metrics, most=64):
    """The warps that a multiprocessor holds at a time, block by block, of those that it could."""
    warps = int(metrics["threads_per_block"] + LANES - 1) // LANES
    held = int(metrics["resident_blocks"]) * warps
    parts = [text(0, 14, "%d blocks of %d warps: %d of %d" % (metrics["resident_blocks"], warps, held, most))]
    for w in range(most):
        shade = USED if w // warps % 2 == 0 else "#7ba7d7"
        parts.append(box(w % 32 * 20, 24 + w // 32 * 20, 18, 16, shade if w < held else FREE))
    return Picture(640, 68, *parts)


def bounds(candidates):
    """{name: what cawb.profile returned}: how long each part of the device is busy. The longest says what limits."""
    longest = max(v for p in candidates.values() for v in p["bound"].values())
    parts, y = [], 0
    for name, p in candidates.items():
        parts.append(text(0, y + 14, "%s: %.2f us modelled" % (name, 1e6 * p["metrics"]["seconds"])))
        y += 22
        limit = max(p["bound"], key=p["bound"].get)
        for key, words in PARTS:
            if key in p["bound"]:
                width = 400 * p["bound"][key] / longest
                parts += [text(120, y + 11, words, "end"), box(128, y, max(1, width), 13, MOST if key == limit else USED),
                          text(134 + width, y + 11, "%.2f us" % (1e6 * p["bound"][key]))]
                y += 17
        y += 8
    return Picture(640, y, *parts)
