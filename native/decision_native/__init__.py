"""The worker of `decision serve --backend native`: holds a model in PyTorch and scores what its parent sends. See docs/backends.md."""
