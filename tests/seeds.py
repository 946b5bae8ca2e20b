"""Seeds of the statistical tests: one by default, many on request.

``PRIVMIX_SEEDS=100 make test`` runs each with seeds 1 to 100.
"""

import os

SEEDS = list(range(1, 1 + int(os.environ.get("PRIVMIX_SEEDS", "1"))))
