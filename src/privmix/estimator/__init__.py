"""scikit-learn's interface; an extra, which `import privmix` does not load."""

try:
    import sklearn.utils.validation

    sklearn.utils.validation.validate_data  # noqa: B018 - since scikit-learn 1.6
except (ImportError, AttributeError) as error:
    raise ImportError(
        "PrivateMixtureEstimator needs scikit-learn 1.6 or later: pip install 'privmix[sklearn]'. "
        "privmix.fit and PrivateMixture work without it."
    ) from error

from privmix.estimator.estimator import PrivateMixtureEstimator

__all__ = ["PrivateMixtureEstimator"]
