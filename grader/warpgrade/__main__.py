"""Entry of `python -m warpgrade`."""

import signal
import sys

from warpgrade.cli.main import run


def main() -> None:
    """Run the command line and leave with its exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C: what a command has in /tmp is removed
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores a hangup, and so do we
            signal.signal(number, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
