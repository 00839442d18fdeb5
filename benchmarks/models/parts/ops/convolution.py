"""Convolution."""

from __future__ import annotations

from typing import Any

from .case import MATRIX, VECTOR, Case, Cases, Input, case

_KERNEL = Input(lambda np: np.array([0.5, -1.0, 0.25]))
_PATCH = Input(lambda np: np.array([[1.0, -0.5], [0.25, 2.0]]))
_IMAGES = Input(lambda np: np.sin(np.arange(40.0)).reshape((1, 2, 4, 5)))
_FILTERS = Input(lambda np: np.cos(np.arange(12.0)).reshape((3, 2, 1, 2)))


def _in_one_dimension(mode: str, signal: Input) -> Case:
    def build(_: Any, x: Any, kernel: Any) -> Any:
        from pytensor.tensor.signal import convolve1d

        return convolve1d(x, kernel, mode=mode)

    return case(build, lambda np, x, kernel: np.convolve(x, kernel, mode), signal, _KERNEL)


def _in_two_dimensions(_: Any, x: Any, kernel: Any) -> Any:
    from pytensor.tensor.signal import convolve2d

    return convolve2d(x, kernel, mode="full")


def _right_in_two_dimensions(_: Any, x: Any, kernel: Any) -> Any:
    import scipy.signal

    return scipy.signal.convolve2d(x, kernel, mode="full")


def _of_images(_: Any, images: Any, filters: Any) -> Any:
    from pytensor.tensor.conv.abstract_conv import conv2d

    return conv2d(images, filters, border_mode="valid")


def _right_of_images(np: Any, images: Any, filters: Any) -> Any:
    from scipy.signal import convolve2d

    return np.array([
        [sum(map(lambda x, k: convolve2d(x, k, "valid"), image, one)) for one in filters]
        for image in images
    ])  # fmt: skip


CASES: Cases = {
    "full": _in_one_dimension("full", VECTOR),
    "two_dimensions": case(_in_two_dimensions, _right_in_two_dimensions, MATRIX, _PATCH),
    "images": case(_of_images, _right_of_images, _IMAGES, _FILTERS),
}
