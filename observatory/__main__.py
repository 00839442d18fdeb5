"""`python -m observatory` is the command `observatory`."""

from observatory.cli.main import main

main()
