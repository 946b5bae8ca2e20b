"""Damage to files: bytes that change or are lost, and entries and arrays that are edited by somebody who knows how."""

import io
import json

import h5py
import numpy as np

from privmix.posterior.storage import DIGITS, SEAL, seal_of
from privmix.release.metadata import sum_metadata

JUNK = [None, True, -1, 0, 7, 2**31, 10**40, 0.5, -5.0, 1e308, float("nan"), float("inf"), "", "x", "50", [], [1.0], {}]
NUMBERS = [float("nan"), float("inf"), -float("inf"), -5.0, -1.0, 0.0, 2.0, 7.0, 1e9, 1e300]


def bytes_of(rng, content):
    """Return content in which bytes were changed, cut off, doubled or put in."""
    content, place = bytearray(content), int(rng.integers(len(content)))
    how = rng.integers(5)
    if how == 0:
        return bytes(content[:place])
    if how == 1:
        content[place : place + int(rng.integers(1, 40))] = b""
    elif how == 2:
        content[place:place] = bytes(rng.integers(0, 256, int(rng.integers(1, 40)), dtype=np.uint8))
    elif how == 3:
        content[place : place + 20] = bytes(content[place : place + 20]) * 2
    else:
        content[place] ^= 1 << int(rng.integers(8))
    return bytes(content)


def entry_of(rng, told):
    """Put junk in the place of a random entry of plain data, or take it away."""
    holders = [told] if told else []
    for holder in holders:  # grows
        inner = holder.values() if isinstance(holder, dict) else holder
        holders += [entry for entry in inner if isinstance(entry, dict | list) and entry]
    holder = holders[int(rng.integers(len(holders)))]
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    key, junk = keys[int(rng.integers(len(keys)))], JUNK[int(rng.integers(len(JUNK)))]
    if rng.random() < 0.15:
        del holder[key]
    else:
        holder[key] = nested(900) if rng.random() < 0.05 else junk


def nested(depth):
    """Return a list in a list in a list …"""
    made = []
    for _ in range(depth):
        made = [made]
    return made


def metadata_of(rng, text):
    """Return metadata of a release with an entry changed, and checksums that fit."""
    told = json.loads(text)
    entry_of(rng, told)
    try:
        told["checksum"]["metadata"] = sum_metadata(told)
        return json.dumps(told)
    except (KeyError, TypeError, OverflowError, RecursionError):
        return json.dumps(told)


def fit_of(rng, content):
    """Return a fit with an array or an attribute changed, and a checksum that fits."""
    held = io.BytesIO(content[: -len(SEAL) - DIGITS - 1])
    with h5py.File(held, "r+") as file:
        arrays, described = [], []
        file.visititems(lambda name, item: arrays.append(name) if isinstance(item, h5py.Dataset) else None)
        file.visititems(lambda name, item: described.append(name) if "rng" in item.attrs else None)
        if rng.random() < 0.3:
            where, name = (file, "privmix") if rng.random() < 0.7 else (file[described[int(rng.integers(2))]], "rng")
            told = json.loads(where.attrs[name])
            entry_of(rng, told)
            where.attrs[name] = json.dumps(told)
        elif rng.random() < 0.1:
            file.attrs[list(file.attrs)[int(rng.integers(len(file.attrs)))]] = JUNK[int(rng.integers(3, 9))] * 1.0
        else:
            array_of(rng, file, arrays[int(rng.integers(len(arrays)))])
    made = held.getvalue()
    return made + seal_of(made)


def array_of(rng, file, name):
    """Change an array: an entry, all entries, the type, the shape; or delete it."""
    how, values = rng.integers(6), file[name][()]
    if how == 0:
        del file[name]
    elif how == 1 or not values.size or values.dtype.kind not in "if":
        replace(file, name, values.astype("f4") if values.dtype.kind in "if" else np.zeros(values.shape))
    elif how == 2:
        replace(file, name, values[: len(values) // 2])
    else:
        number = NUMBERS[int(rng.integers(len(NUMBERS)))]
        if values.dtype.kind == "i":
            number = int(np.clip(np.nan_to_num(number), -(2**31), 2**31 - 1))
        values.flat[int(rng.integers(values.size)) if how < 5 else slice(None)] = number
        file[name][...] = values


def replace(file, name, values):
    """Put an array of another type or shape into the place of one."""
    del file[name]
    file[name] = values
