"""The command `probeta`, as `python -m probeta`."""

import sys

from probeta import main

sys.exit(main())
