import pytest

from privmix.numerics.slices import slices_of


@pytest.mark.parametrize(("count", "most", "sizes"), [(7, 3, [3, 3, 1]), (3, 0, [1, 1, 1]), (3, 5, [3]), (0, 2, [])])
def test_slices_cover_the_axis_in_order(count, most, sizes):
    found = [list(range(count))[part] for part in slices_of(count, most)]
    assert [len(part) for part in found] == sizes
    assert [i for part in found for i in part] == list(range(count))
