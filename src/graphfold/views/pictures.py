"""Thumbnails: small images as raw pixels, or files as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.views.packing import Blocks

LARGEST = 64  # pixels of a side; larger arrays are averaged down
_MAGIC = {  # what browsers show as an image and never run as a program
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


def pack_images(images: Any, n: int, blocks: Blocks) -> dict[str, Any]:
    """``images=`` as the page reads them."""
    if isinstance(images, np.ndarray) and images.dtype.kind in "biuf":
        return _pack_pixels(images, n, blocks)
    listed = list(images)
    if listed and all(isinstance(image, np.ndarray) for image in listed):
        if len({image.shape for image in listed}) > 1:
            raise _wrong("arrays of different shapes", n)
        return pack_images(np.stack(listed), n, blocks)
    if len(listed) != n:
        raise _wrong(f"{len(listed)} images", n)
    contents = [_content(image) for image in listed]
    sizes = np.array([len(content) for content, _ in contents])
    return {
        "kind": "files",
        "types": [mime for _, mime in contents],
        "ends": blocks.add(np.cumsum(sizes), "u4"),
        "block": blocks.add_bytes(b"".join(content for content, _ in contents)),
    }


def _pack_pixels(images: Array, n: int, blocks: Blocks) -> dict[str, Any]:
    grey = images.ndim == 3
    if not grey and (images.ndim != 4 or images.shape[3] not in (1, 3, 4)):
        raise _wrong(f"shape {images.shape}", n)
    if len(images) != n:
        raise _wrong(f"{len(images)} images", n)
    if 0 in images.shape:
        raise _wrong(f"shape {images.shape}", n)
    pixels = _bytes_of(images[..., None] if grey else images)
    step = -(-max(pixels.shape[1:3]) // LARGEST)
    if step > 1:
        pixels = _averaged(pixels, step)
    _, height, width, channels = pixels.shape
    return {
        "kind": "pixels",
        "height": height,
        "width": width,
        "channels": channels,
        "block": blocks.add(pixels, "u1"),
    }


def _bytes_of(images: Array) -> Array:
    """0 to 255; numbers that are no bytes are stretched over that range."""
    if images.dtype == np.uint8:
        return images
    if not np.isfinite(images).all():
        raise GraphfoldError("images must be finite; got NaN or infinity")
    low, high = float(images.min()), float(images.max())
    unit = (images.astype(np.float32) - low) / ((high - low) or 1.0)
    return np.round(unit * 255).astype(np.uint8)


def _averaged(pixels: Array, step: int) -> Array:
    n, height, width, channels = pixels.shape
    # a side shorter than a step is averaged whole
    tall, wide = min(step, height), min(step, width)
    rows, columns = height // tall, width // wide
    cut = pixels[:, : rows * tall, : columns * wide]
    blocks = cut.reshape(n, rows, tall, columns, wide, channels)
    return blocks.mean(axis=(2, 4)).astype(np.uint8)


def _content(image: Any) -> tuple[bytes, str]:
    if image is None:
        return b"", ""
    if isinstance(image, str | os.PathLike):
        path = Path(image)
        if not path.is_file():
            raise GraphfoldError(f"images must be files that exist; {path} does not")
        image = path.read_bytes()
    if isinstance(image, bytes):
        for magic, mime in _MAGIC.items():
            if image.startswith(magic):
                return image, mime
    raise GraphfoldError(
        "images must be an array of pixels, or PNG, JPEG, GIF or WebP files or their "
        f"bytes; got {type(image).__name__} {image[:8]!r}"
        if isinstance(image, bytes)
        else "images must be an array of pixels, or paths or bytes of image files; got "
        f"{type(image).__name__}"
    )


def _wrong(came: str, n: int) -> GraphfoldError:
    return GraphfoldError(
        f"images must be one for each of the {n} rows, as an array (n, height, width) "
        f"or (n, height, width, 1, 3 or 4), or a list; got {came}"
    )
