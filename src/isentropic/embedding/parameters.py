"""Constructor parameters that many methods share, with their specs."""

from __future__ import annotations

from typing import Annotated, Any

from .._core.parameters import Choice, Count, Parameter, Real
from .._core.specs import Maybe, Sizes, Whole
from .._core.state import Value
from .._core.values import Neighbors
from ..distances import checked_metric
from .input_rows import checked_components
from .training_data import METRIC, UNLABELLED


class _Components(Parameter):
    def _accepted(self, name: str, value: Any) -> int:
        return checked_components(value)


class _RowMetric(Parameter):
    """A metric between rows, not one over a neighbor graph."""

    def _accepted(self, name: str, value: Any) -> Any:
        checked_metric(value)
        return value

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        METRIC.check(value, part, sizes)


NComponents = Annotated[int, _Components()]
MaxIter = Annotated[int, Count("a number of steps", least=0)]
Tolerance = Annotated[float, Real("a number from 0 to below 1", below=1)]
NNeighbors = Annotated[int, Count()]
MetricParameter = Annotated[Any, METRIC]  # in a file; a fit takes callables as well
RowMetric = Annotated[Any, _RowMetric()]
NeighborLists = Annotated[Neighbors | None, Maybe(Value(Neighbors))]
Unlabelled = Annotated[str, Choice(*UNLABELLED)]
NJobs = Annotated[int | None, Maybe(Whole(zero=False))]
