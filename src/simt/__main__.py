"""`python -m simt`, the same as the command `simt`."""

from simt.cli.main import main

if __name__ == "__main__":
    main()
