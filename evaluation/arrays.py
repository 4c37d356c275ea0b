"""The types of arrays."""

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Reals = np.ndarray[Any, np.dtype[np.floating[Any]]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
"""Class numbers."""
Rows = np.ndarray[Any, np.dtype[np.int64]]
"""Row numbers."""
Counts = np.ndarray[Any, np.dtype[np.int64]]
Values = np.ndarray[Any, np.dtype[Any]]
"""Class numbers or scores, ids, names."""
