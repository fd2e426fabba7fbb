"""What a maintainer does with the repository: rebuild everything derived, and publish it on the Hub."""
