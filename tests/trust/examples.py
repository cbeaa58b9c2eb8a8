"""How many examples a property gets: few in ``make test``, many in ``make fuzz``.

``GRAPHFOLD_EXAMPLES=40`` multiplies them by forty and seeks new ones each time. Without
it the same ones are made on every run, so that a change is judged by what it changes.
"""

import os

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("GRAPHFOLD_EXAMPLES", "1"))


def examples(number: int) -> settings:
    """Settings for a property that takes ``number`` examples in an everyday run."""
    return settings(
        max_examples=number * TIMES,
        derandomize=TIMES == 1,
        deadline=None,  # machines are noisy
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
