"""A small repository whose kernels cawb judges in CI; docs/howto/ci.md walks through it."""
