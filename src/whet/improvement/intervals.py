"""How sure a mean is."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def half_width(values: Matrix) -> float | None:
    """Of the 95 % interval of the mean, by Student's t; one value alone has none."""
    count = len(values)
    if count < 2:
        return None
    return float(student_95(count - 1) * values.std(ddof=1) / np.sqrt(count))


def student_95(degrees: int) -> float:
    """The 97.5 % quantile of Student's t; beyond the table by its expansion in 1/degrees (error < 0.002)."""
    small = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
    return small[degrees - 1] if degrees <= len(small) else 1.96 + 2.372 / degrees + 2.82 / degrees**2
