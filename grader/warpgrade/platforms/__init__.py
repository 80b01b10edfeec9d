"""The platforms that courses use: for each a folder, which is found by its name and knows nothing of the others.

`adapter.py` in it says what Warpgrade knows of the platform (see adapter.py here); `platform.toml` and the files that
end in `.in` are the template that plugs grading into it (see handout/template.py). Either may be missing. `common/` has
what the templates share.
"""
