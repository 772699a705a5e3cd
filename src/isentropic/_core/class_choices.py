"""Choices of a dissimilarity that counts classes: values like those of :mod:`isentropic._core.values`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from .state import Maybe, Number, OneOf, Text, Whole


@dataclass(frozen=True, slots=True)
class Dis1:
    """Of classes: ``sqrt(1 - exp(-d^2 / beta))`` within one, ``exp(d^2 / 2 beta) - alpha`` between two.

    ``beta="auto"`` is the mean squared distance. With ``alpha=0`` all rows of a class come before any other.
    """

    alpha: Annotated[float, Number(0, most=1)] = 0.5
    beta: Annotated[float | Literal["auto"], OneOf(Number(above=0), Text("auto"))] = "auto"


@dataclass(frozen=True, slots=True)
class Dis2:
    """Of classes: ``d / psi`` within one, ``d`` between two."""

    psi: Annotated[float, Number(1)] = 2.0


@dataclass(frozen=True, slots=True)
class Dis3:
    """Of classes: ``d`` within one, ``d + mu max d`` between two."""

    mu: Annotated[float, Number(0, most=1)] = 0.1


@dataclass(frozen=True, slots=True)
class Dis4:
    """Of classes: ``d exp(v_i - v_j)`` within one, ``d`` between two; from i to j, not back.

    v is a ``column`` of X, by its number from 0, such as a time or a level; d is the distance by the others.
    """

    column: Annotated[int, Whole(0)]


@dataclass(frozen=True, slots=True)
class ClassDivergence:
    """Of classes: ``d + alpha s DE``, DE the divergence between the Gaussians of the classes.

    ``scale="match"`` has the largest ``s DE`` equal the largest d; None adds nats to lengths, s = 1.
    """

    alpha: Annotated[float, Number(0, most=1)] = 0.1
    divergence: Annotated[str, Text()] = "kl"
    scale: Annotated[Literal["match"] | None, Maybe(Text("match"))] = "match"
