"""A bound of processor time: what takes longer is refused, and what fails by itself is told as it is."""

import time

import pytest

from isentropic.experiments.protocols import cpu_limit
from isentropic.experiments.tasks import Refused


def busy(seconds):
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass


def test_what_takes_too_long_is_refused_with_its_name():
    with pytest.raises(Refused, match=r"Counting takes more than 0.1 s"), cpu_limit(0.1, "Counting"):
        busy(20)


def test_an_error_of_its_own_is_told_as_it_is():
    with pytest.raises(ValueError, match="mine"), cpu_limit(5.0, "Nothing"):
        raise ValueError("mine")


def test_what_a_kernel_makes_of_the_end_is_told_as_the_refusal():
    def as_kernels_do():
        try:
            busy(20)
        except Refused as error:
            raise SystemError("a result with an exception set") from error

    with pytest.raises(Refused, match="Counting"), cpu_limit(0.1, "Counting"):
        as_kernels_do()
