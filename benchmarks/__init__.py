"""Speed and size beside other people's programs, measured in the same run; `make bench` writes results.md and .json."""
