"""What tests do with a page in a browser, and what they hear from it."""

LAPTOP = {"width": 1366, "height": 768}
READY = "() => window.isentropic && window.isentropic.ready"


class Heard:
    """What a page asked for and complained about."""

    def __init__(self, tab):
        self.complaints, self.requests = [], []
        tab.on("console", lambda message: self._hear(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, text):
        if not text.startswith("Canvas2D: Multiple readback"):  # of a test that reads pixels
            self.complaints.append(text)


def place(tab, figure, row):
    """Where a row is on the screen, in one of the figures."""
    view = tab.locator("figure.map").nth(figure)
    # In the middle: the tools stick to the top of the window, over what lies there.
    view.evaluate("(figure) => figure.scrollIntoView({ block: 'center', behavior: 'instant' })")
    has_size(tab, figure)
    box = view.locator("canvas.over").bounding_box()
    script = "([f, r]) => { const v = isentropic.views[f]; return [v.px[r] / v.ratio, v.py[r] / v.ratio]; }"
    x, y = tab.evaluate(script, [figure, row])
    return box["x"] + x, box["y"] + y


def drag(tab, start, end, steps=8):
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move(*end, steps=steps)
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    tab.mouse.up()


def selected(tab):
    return set(tab.evaluate("[...isentropic.selected.keys()].filter((i) => isentropic.selected[i])"))


def has_size(tab, figure):
    """Wait until one of the figures, which has come into view, knows where its rows are."""
    tab.wait_for_function("(f) => isentropic.views[f].px.length > 0", arg=figure)


def drawn(tab):
    """Wait until the maps outside of the window are drawn too."""
    tab.wait_for_function("() => isentropic.views.every((view) => !view.stale)")
