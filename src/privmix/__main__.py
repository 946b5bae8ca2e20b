"""`python -m privmix`: the command line without its script."""

from privmix.cli import main

if __name__ == "__main__":
    main()
