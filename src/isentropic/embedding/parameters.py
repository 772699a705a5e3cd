"""Constructor parameters that many methods share, with their specs."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from .._core.parameters import Choice, Count, Parameter, Real
from .._core.specs import Maybe, Whole
from .._core.state import Value
from .._core.values import Neighbors
from .input_rows import checked_components
from .training_data import METRIC, UNLABELLED


class _Components(Parameter):
    def _accepted(self, name: str, value: Any) -> int:
        return checked_components(value)


NComponents = Annotated[int, _Components()]
MaxIter = Annotated[int, Count("a number of steps", least=0)]
Tolerance = Annotated[float, Real("a number from 0 to below 1", below=1)]
NNeighbors = Annotated[int, Count()]
MetricParameter = Annotated[Any, METRIC]  # in a file; a fit takes callables as well
NeighborLists = Annotated[Neighbors | None, Maybe(Value(Neighbors))]
Unlabelled = Annotated[str, Choice(*UNLABELLED)]
NJobs = Annotated[int | None, Maybe(Whole(zero=False))]
RandomState = int | np.random.RandomState | None
