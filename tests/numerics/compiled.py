"""Functions of numerics as samplers have them: compiled. In Python some raise where compiled code returns inf."""

from privmix.jit import bind


def compiled(*functions):
    """Return the functions, compiled."""
    return [bind(function, {}) for function in functions]
