"""Attention over several calls with a cache: which tokens a call has at hand, and wrong ways of that."""
