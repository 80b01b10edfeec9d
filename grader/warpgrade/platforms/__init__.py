"""What plugs grading into the platform that a course uses already: ready templates, and gradebooks to fill.

Each folder here is a platform and is found: `platform.toml` says what it is, and its files, which end in `.in`, are the
template. `common/` has what they share.
"""
