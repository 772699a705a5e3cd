"""The figure of a path."""

import numpy as np

from isentropic import Path
from isentropic.plot import path_curves


def test_four_curves_with_the_choice_and_the_alarm():
    count = 6
    path = Path(
        neighbors=tuple(range(5, 11)),
        embeddings=(np.zeros((3, 2)),) * count,
        eigenvalues=np.ones((count, 2)),
        residual_variance=np.array([0.3, 0.2, 0.1, 0.1, 0.4, 0.4]),
        rnx_auc=np.linspace(0, 1, count),
        geodesic_sum=np.array([100, 97, 95, 94, 70, 69.5]),
        stability=np.array([np.nan, 1, 1, 1, 0.5, 1]),
        euclidean_defect=np.zeros((count, 2)),
        n_parts=np.array([2, 1, 1, 1, 1, 1]),
    )
    figure = path_curves(path, title="roll")
    assert len(figure.axes) == 4
    variance = figure.axes[0]
    assert variance.get_title(loc="left") == "residual variance"
    marks = [line.get_xdata()[0] for line in variance.lines if len(set(line.get_xdata())) == 1]
    assert marks == [7.0, 9.0]
    curve = next(line for line in variance.lines if len(line.get_xdata()) == count)
    assert curve.get_ydata().tolist() == path.residual_variance.tolist()
    assert figure.get_suptitle() == "roll"
