"""Curves and numbers that are read off draws: densities, distribution functions, quantiles, moments, bands."""
