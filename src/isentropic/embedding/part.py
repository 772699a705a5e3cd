"""Parts of fitted estimators: frozen dataclasses whose fields carry their spec in the annotation.

A part is declared as::

    @dataclass(frozen=True, eq=False)
    class StudentWeights(Part):
        Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
        dof: Annotated[float, Double(above=0)]

Checks, saving and loading read the specs. A size of one name (n rows, m features, d coordinates) is one size
through all parts of a model. What is derived from the fields (an index, hashes) is a ``cached_property``: it
is never saved, pickled or copied. What a spec cannot say is checked by ``_require_sound``. A field that a
later version adds needs a default, so that files of this one load.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Part:
    """The base of parts."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
