"""Tables of any kind become modes: which columns, which kind, which rows."""

import re
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_selector

from graphfold import MultiModalGraphEmbedding
from graphfold.errors import GraphfoldError, ModeError
from graphfold.estimators.mode_tables import kind_of, tables_of
from graphfold.estimators.modes import learn_mode

N = 40


@pytest.fixture
def reals(rng):
    return rng.standard_normal((N, 6)) * [1, 10, 0.1, 1, 1, 1] + 3.0


@pytest.fixture
def frame(rng):
    """Columns of several types, in no order of kinds."""
    return pd.DataFrame(
        {
            "height": rng.standard_normal(N),
            "smokes": rng.random(N) < 0.5,
            "colour": rng.choice(["red", "green", "blue"], N),
            "weight": rng.standard_normal(N).astype(np.float32),
            "count": rng.integers(0, 50, N),
            "flag": rng.integers(0, 2, N),
            "shape": pd.Categorical(rng.choice(["round", "flat"], N)),
        }
    )


def columns_by_mode(X, modes=None, block_size=None, overlap=0):
    tables, _ = tables_of(X, modes, block_size, overlap, None)
    return {name: list(columns) for name, (_, columns) in tables.items()}


def metrics(model):
    return {name: graph.recipe.metric for name, graph in model._sources.items()}


# -- kinds --------------------------------------------------------------------------

KINDS = {
    "bool": (np.array([[True], [False]]), "binary"),
    "0/1 integers": (np.array([[1], [0]]), "binary"),
    "0/1 floats": (np.array([[1.0], [0.0]]), "binary"),
    "0/1 and missing": (np.array([[1.0], [np.nan], [0.0]]), "binary"),
    "0/1 objects": (np.array([[1], [None], [True]], dtype=object), "binary"),
    "floats": (np.array([[1.5], [0.0]]), "real"),
    "single floats": (np.array([[1.5], [0.0]], dtype=np.float32), "real"),
    "integers": (np.array([[1], [2]]), "real"),
    "numbers as objects": (np.array([[1.5], [None]], dtype=object), "real"),
    "strings": (np.array([["a"], ["b"]]), "categorical"),
    "strings as objects": (np.array([["a"], [None]], dtype=object), "categorical"),
    "a string among numbers": (np.array([[1], ["b"]], dtype=object), "categorical"),
    "sparse 0/1": (sp.csr_array([[1.0, 0.0], [0.0, 1.0]]), "binary"),
    "sparse reals": (sp.csr_array([[1.5, 0.0], [0.0, 1.0]]), "real"),
}


@pytest.mark.parametrize("table, kind", KINDS.values(), ids=KINDS)
def test_kind_of_values(table, kind):
    assert kind_of(table) == kind


EXPECTED_KINDS = {"real": [0, 3, 4], "binary": [1, 5], "categorical": [2, 6]}


def test_columns_of_a_dataframe_go_by_kind(frame):
    assert columns_by_mode(frame) == EXPECTED_KINDS
    model = MultiModalGraphEmbedding(2).fit(frame)
    assert model.mode_names_ == ["real", "binary", "categorical"]
    assert model.mode_kinds_ == model.mode_names_


def test_columns_of_a_polars_frame_go_by_kind(frame):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({k: frame[k].astype(object).tolist() for k in frame})
    assert columns_by_mode(table) == EXPECTED_KINDS
    model = MultiModalGraphEmbedding(2).fit(table)
    assert_array_equal(model.transform(table[5:9]), model.embedding_[5:9])
    by_name = MultiModalGraphEmbedding(2, modes=[["colour", "shape"], "height"])
    assert by_name.fit(table).mode_kinds_ == ["categorical", "real"]
    pandas = MultiModalGraphEmbedding(2).fit(frame)
    assert_allclose(model.embedding_, pandas.embedding_, atol=1e-6)


def test_columns_of_an_array_go_by_kind(reals):
    X = reals.copy()
    X[:, 2] = np.arange(N) % 2
    assert columns_by_mode(X) == {"real": [0, 1, 3, 4, 5], "binary": [2]}


def test_kinds_of_a_dict_of_tables(frame):
    X = {
        "a": frame[["height", "count"]],
        "b": frame[["smokes"]].to_numpy(),
        "c": frame[["colour"]],
        "d": frame[["shape", "colour"]],
    }
    model = MultiModalGraphEmbedding(2).fit(X)
    assert model.mode_names_ == ["a", "b", "c", "d"]
    assert model.mode_kinds_ == ["real", "binary", "categorical", "categorical"]


@pytest.mark.parametrize("dtype, kind", [("Float64", "real"), ("boolean", "binary")])
def test_nullable_columns_keep_their_kind(dtype, kind, reals):
    values = reals[:, 0] if kind == "real" else reals[:, 0] > 3
    column = pd.Series(values).astype(dtype)
    column[:3] = pd.NA
    X = pd.DataFrame({"a": column, "b": reals[:, 1]})
    model = MultiModalGraphEmbedding(2, modes=["a", "b"]).fit(X)
    assert model.mode_kinds_ == [kind, "real"]


def test_a_category_of_numbers_is_a_category(reals):
    X = pd.DataFrame({"a": pd.Categorical(np.arange(N) % 4), "b": reals[:, 1]})
    model = MultiModalGraphEmbedding(2, modes=["a", "b"]).fit(X)
    assert model.mode_kinds_ == ["categorical", "real"]


# -- metrics by kind ----------------------------------------------------------------


@pytest.mark.parametrize("share, metric", [(0.1, "jaccard"), (0.6, "hamming")])
@pytest.mark.parametrize("dtype", [bool, float, int])
def test_metric_by_kind(share, metric, dtype, reals, frame, rng):
    X = {
        "r": reals,
        "b": (rng.random((N, 20)) < share).astype(dtype),
        "c": frame[["colour", "shape"]],
    }
    found = metrics(MultiModalGraphEmbedding(2).fit(X))
    assert found == {"r": "euclidean", "b": metric, "c": "hamming"}


def test_rare_ones_are_rare_among_the_samples_that_have_the_mode(reals, rng):
    marks = (rng.random((N, 20)) < 0.1).astype(float)
    marks[:4] = np.nan
    found = metrics(MultiModalGraphEmbedding(2).fit({"r": reals, "b": marks}))
    assert found["b"] == "jaccard"


@pytest.mark.parametrize("value", [float, bool])
def test_zeros_and_ones_may_be_missing_as_none(value, reals, rng):
    marks = np.vectorize(value, otypes=[object])(rng.random((N, 20)) < 0.5)
    marks[:4] = None
    model = MultiModalGraphEmbedding(2).fit({"r": reals, "b": marks})
    assert model.mode_kinds_ == ["real", "binary"]


# -- numbers ------------------------------------------------------------------------


def test_real_columns_are_standardised_over_the_rows_that_have_them(reals):
    X = reals.copy()
    X[[2, 7]] = np.nan
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, 4.0)  # a constant is only centred
    numbers, present = learn_mode("m", X, None).encode(X, np.float64)
    assert_array_equal(np.flatnonzero(~present), [2, 7])
    assert not numbers[[2, 7]].any()
    for j in range(6):
        values = np.array([X[i, j] for i in range(N) if i not in (2, 7)])
        spread = np.sqrt(((values - values.mean()) ** 2).mean())
        expected = (values - values.mean()) / (spread if spread > 1e-9 else 1.0)
        assert_allclose(numbers[present, j], expected, atol=1e-12)


def test_sparse_columns_are_scaled_and_not_shifted(reals):
    X = np.where(reals > 3, reals, 0.0)
    numbers, present = learn_mode("m", sp.csr_array(X), None).encode(
        sp.csr_array(X), np.float64
    )
    assert present.all()
    assert_allclose(numbers.toarray(), X / X.std(axis=0), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(st.sampled_from("abcd"), min_size=2, max_size=30),
    asked=st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=10),
)
def test_codes_are_equal_exactly_where_known_categories_are(values, asked):
    table = np.array(values, dtype=object)[:, None]
    mode = learn_mode("m", table, None)
    old, _ = mode.encode(table, np.float64)
    new, _ = mode.encode(np.array(asked, dtype=object)[:, None], np.float64)
    for i, name in enumerate(asked):
        for j, other in enumerate(values):
            assert (new[i, 0] == old[j, 0]) == (name == other)


def test_an_unseen_category_equals_nothing_of_the_fit(frame, reals):
    X = {"r": reals, "c": frame[["colour"]]}
    model = MultiModalGraphEmbedding(2).fit(X)
    # one more category is as far from all the others as a category can be: every
    # place is finite, and the other mode has the same say as in a batch of its own
    new = {"r": reals[:3] + 0.1, "c": pd.DataFrame({"colour": ["x", "red", "x"]})}
    found = model.transform(new)
    assert np.isfinite(found).all()
    last = {"r": reals[2:3] + 0.1, "c": pd.DataFrame({"colour": ["x"]})}
    assert_allclose(model.transform(last), found[2:], atol=1e-12)


def test_integers_among_categories_survive_a_missing_row(frame, reals, rng):
    X = pd.DataFrame(
        {"colour": frame["colour"], "size": rng.integers(1, 5, N), "x": reals[:, 0]}
    )
    model = MultiModalGraphEmbedding(2, modes=[["colour", "size"], "x"]).fit(X)
    without = pd.DataFrame({"colour": [None], "size": [np.nan], "x": [0.3]})
    new = pd.concat([X[:5], without], ignore_index=True)
    assert_allclose(model.transform(new)[:5], model.transform(X[:5]), atol=1e-12)


# -- which columns ------------------------------------------------------------------

SELECTORS = {
    "names": (["weight", "height"], [3, 0]),
    "one name": ("count", [4]),
    "positions": ([4, 0], [4, 0]),
    "one position": (3, [3]),
    "negative positions": ([-3, -7], [4, 0]),
    "slice": (slice(3, 5), [3, 4]),
    "slice to the end": (slice(-2, None), [5, 6]),
    "slice with a step": (slice(None, None, 3), [0, 3, 6]),
    "mask": ([True, False, False, True, True, False, False], [0, 3, 4]),
    "mask as an array": (np.arange(7) > 4, [5, 6]),
    "array of names": (np.array(["smokes", "flag"]), [1, 5]),
    "tuple of names": (("smokes", "flag"), [1, 5]),
    "index": (pd.Index(["smokes", "flag"]), [1, 5]),
    "column selector": (make_column_selector(dtype_include="category"), [6]),
    "selector by pattern": (make_column_selector(pattern="ight$"), [0, 3]),
    "callable": (lambda X: [c for c in X.columns if c.startswith("s")], [1, 6]),
}


@pytest.mark.parametrize("selector, columns", SELECTORS.values(), ids=SELECTORS)
def test_selectors(selector, columns, frame):
    assert columns_by_mode(frame, {"m": selector}) == {"m": columns}
    assert columns_by_mode(frame, [[0], selector]) == {"mode1": [0], "mode2": columns}


def test_selectors_choose_what_is_fitted(frame):
    columns = {"body": ["height", "weight"], "look": make_column_selector("colour")}
    model = MultiModalGraphEmbedding(2, modes=columns).fit(frame)
    apart = {"body": frame[["height", "weight"]], "look": frame[["colour"]]}
    other = MultiModalGraphEmbedding(2).fit(apart)
    assert model.mode_names_ == other.mode_names_
    assert_allclose(model.embedding_, other.embedding_, atol=1e-10)
    assert_allclose(model.mode_weights_, other.mode_weights_, atol=1e-8)


def test_a_number_of_modes_is_that_many_blocks(reals):
    expected = {"columns 0-1": [0, 1], "columns 2-3": [2, 3], "columns 4-5": [4, 5]}
    assert columns_by_mode(reals, 3) == expected
    assert columns_by_mode(reals, np.int64(3)) == expected
    assert MultiModalGraphEmbedding(2, modes=3).fit(reals).mode_names_ == [*expected]


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 30), data=st.data())
def test_a_number_of_blocks_covers_every_column_once(n, data):
    count = data.draw(st.integers(1, n))
    blocks = list(columns_by_mode(np.zeros((2, n)), count).values())
    assert len(blocks) == count
    assert [*chain(*blocks)] == [*range(n)]
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 30), data=st.data())
def test_blocks_cover_every_column_and_overlap_exactly(n, data):
    size = data.draw(st.integers(1, n))
    overlap = data.draw(st.integers(0, size - 1))
    found = columns_by_mode(np.zeros((2, n)), None, size, overlap)
    blocks = list(found.values())
    assert set(chain(*blocks)) == set(range(n))
    assert all(len(block) == size for block in blocks[:-1])
    assert overlap < len(blocks[-1]) <= size or len(blocks) == 1
    for one, other in pairwise(blocks):
        assert len(set(one) & set(other)) == overlap
    assert list(found) == [f"columns {b[0]}-{b[-1]}" for b in blocks]


def test_blocks_are_fitted(reals):
    model = MultiModalGraphEmbedding(2, block_size=3, overlap=1).fit(reals)
    assert model.mode_names_ == ["columns 0-2", "columns 2-4", "columns 4-5"]
    apart = {"a": reals[:, :3], "b": reals[:, 2:5], "c": reals[:, 4:]}
    other = MultiModalGraphEmbedding(2).fit(apart)
    assert_allclose(model.embedding_, other.embedding_, atol=1e-10)


def test_an_overlap_is_smaller_than_a_block(reals):
    with pytest.raises(GraphfoldError, match="overlap must"):
        MultiModalGraphEmbedding(2, block_size=2, overlap=3).fit(reals)


@pytest.mark.parametrize("length", [5, 7])
def test_a_mask_has_an_entry_for_each_column(length, reals):
    with pytest.raises(ModeError, match=str(length)):
        MultiModalGraphEmbedding(2, modes={"m": [True] * length}).fit(reals)


def test_a_numpy_integer_is_a_position(reals):
    assert columns_by_mode(reals, {"m": np.int64(2)}) == {"m": [2]}


def test_tables_may_be_named_by_numbers(reals):
    model = MultiModalGraphEmbedding(2).fit({0: reals[:, :3], 1: reals[:, 3:]})
    assert model.mode_names_ == ["0", "1"]


# -- tables that meet ---------------------------------------------------------------


def test_a_dict_of_arrays_meets_by_place(reals):
    by_name = {"a": reals[:, :3], "b": reals[:, 3:]}
    one = MultiModalGraphEmbedding(2, modes={"a": slice(0, 3), "b": slice(3, 6)})
    two = MultiModalGraphEmbedding(2).fit(by_name)
    assert_array_equal(one.fit(reals).embedding_, two.embedding_)


def test_a_dict_of_frames_meets_by_label(reals, rng):
    """Rows of any order and of different sets: a label that is lacking is missing."""
    labels = np.array([f"s{i}" for i in range(N)])
    a = pd.DataFrame(reals[:, :3], index=labels)
    b = pd.DataFrame(reals[:, 3:], index=labels)
    few, other = a.drop(labels[[3, 9]]), b.drop(labels[[0, 20]])
    found, rows = tables_of(
        {"a": few, "b": other.iloc[rng.permutation(N - 2)]}, None, None, 0, None
    )
    assert sorted(rows) == sorted(labels)
    assert list(rows[: N - 2]) == list(few.index)
    for name, table in {"a": few, "b": other}.items():
        for i, label in enumerate(rows):
            if label in table.index:
                expected = table.loc[label].to_numpy()
            else:
                expected = np.full(3, np.nan)
            assert_array_equal(found[name][0][i], expected)


def test_frames_that_meet_by_label_are_fitted_as_one_table(reals, rng):
    labels = np.array([f"s{i}" for i in range(N)])
    table = reals.copy()
    table[[3, 9], 3:] = np.nan
    table[[38, 39], :3] = np.nan
    whole = MultiModalGraphEmbedding(2, modes=[slice(0, 3), slice(3, 6)]).fit(table)
    a = pd.DataFrame(reals[:38, :3], index=labels[:38])
    b = pd.DataFrame(reals[:, 3:], index=labels).drop(labels[[3, 9]])
    # the labels of a come first, then what b adds in its own order
    shuffled = pd.concat([b.iloc[rng.permutation(36)], b.iloc[36:]])
    model = MultiModalGraphEmbedding(2).fit({"a": a, "b": shuffled})
    assert_array_equal(model.embedding_, whole.embedding_)
    new = {"a": a.iloc[[5, 3]], "b": b.iloc[[-1, 3, 4]]}  # s5 s3, then s39 and s4
    assert list(new["b"].index) == ["s39", "s4", "s5"]
    only_b = model.transform({"b": b.iloc[[-1]]})
    assert_allclose(only_b, model.embedding_[[39]], atol=1e-12)
    found = model.transform(new)
    expected = model.embedding_[[5, 3, 39]]
    assert found.shape == (4, 2)
    assert_allclose(found[:3], expected, atol=1e-12)


def test_categories_that_meet_by_label_may_be_missing(frame, reals):
    labels = [f"s{i}" for i in range(N)]
    a = pd.DataFrame(reals, index=labels)
    b = frame[["colour", "shape"]].set_axis(labels).iloc[5:]
    model = MultiModalGraphEmbedding(2).fit({"a": a, "b": b})
    assert model.mode_kinds_ == ["real", "categorical"]
    assert not model.mode_contributions_[:5, 1].any()
    assert model.mode_contributions_[5:, 1].all()


def test_a_default_index_is_no_label(reals):
    a, b = pd.DataFrame(reals[:, :3]), pd.DataFrame(reals[:, 3:])
    with pytest.raises(ModeError, match=r"a 38, b 40.*index of labels"):
        MultiModalGraphEmbedding(2).fit({"a": a[2:].reset_index(drop=True), "b": b})


def test_labels_of_a_table_are_distinct(reals):
    labels = [f"s{i}" for i in range(N - 1)] + ["s0"]
    a = pd.DataFrame(reals, index=labels)
    with pytest.raises(ModeError, match="distinct"):
        MultiModalGraphEmbedding(2).fit({"a": a, "b": a})


# -- what is refused ----------------------------------------------------------------


@pytest.mark.parametrize("what", ["array", "frame", "dict", "strings"])
def test_a_row_that_has_part_of_a_mode_is_refused(what, reals, frame):
    modes = None if what in ("dict", "strings") else {"first": [0, 1], "second": [2, 3]}
    X = reals[:, :4].copy()
    X[[4, 11], 2] = np.nan
    if what == "frame":
        X = pd.DataFrame(X)
    elif what == "dict":
        X = {"first": X[:, :2], "second": X[:, 2:]}
    elif what == "strings":
        part = frame[["colour", "shape"]].astype(object)
        part.loc[[4, 11], "shape"] = None
        X = {"first": X[:, :2], "second": part}
    with pytest.raises(ModeError, match=r"'second'.*rows 4, 11.*2 in all"):
        MultiModalGraphEmbedding(2, modes=modes).fit(X)


def test_a_new_row_that_has_part_of_a_mode_is_refused(reals):
    X = {"first": reals[:, :3], "second": reals[:, 3:]}
    model = MultiModalGraphEmbedding(2).fit(X)
    new = reals[:5, 3:].copy()
    new[3, 0] = np.nan
    with pytest.raises(ModeError, match=r"'second'.*rows 3 "):
        model.transform({"first": reals[:5, :3], "second": new})


def test_a_column_without_values_is_refused_without_noise(reals):
    X = {"a": reals[:, :3].copy(), "b": reals[:, 3:]}
    X["a"][:, 1] = np.nan
    with pytest.raises(ModeError, match="'a'"):
        MultiModalGraphEmbedding(2).fit(X)


@pytest.mark.parametrize("nothing", [[], slice(0, 0), np.zeros(6, bool), lambda X: []])
def test_a_mode_without_columns_is_refused(nothing, reals):
    with pytest.raises(ModeError, match=r"at least one column.*'none'"):
        MultiModalGraphEmbedding(2, modes={"all": [0, 1], "none": nothing}).fit(reals)


def test_a_selector_that_finds_no_column_is_refused(frame):
    modes = {"all": ["height"], "none": make_column_selector(pattern="nothing")}
    with pytest.raises(ModeError, match=r"at least one column.*'none'"):
        MultiModalGraphEmbedding(2, modes=modes).fit(frame)


def test_a_mode_that_hardly_any_row_has_is_refused(reals):
    rare = np.full((N, 2), np.nan)
    rare[3] = 1.5
    with pytest.raises(ModeError, match=r"two rows.*'rare' is known for 1"):
        MultiModalGraphEmbedding(2).fit({"a": reals, "rare": rare})


@pytest.mark.parametrize("as_dict", [False, True])
def test_a_sample_without_a_mode_is_refused(as_dict, reals):
    X = reals.copy()
    X[[6, 13]] = np.nan

    def given(X):
        return {"a": X[:, :3], "b": X[:, 3:]} if as_dict else X

    model = MultiModalGraphEmbedding(2, modes=None if as_dict else 2)
    with pytest.raises(ModeError, match=r"at least one mode; rows 6, 13 .*2 in all"):
        model.fit(given(X))
    model.fit(given(reals))
    with pytest.raises(ModeError, match=r"at least one mode; rows 6, 13 "):
        model.transform(given(X[:20]))
    with pytest.raises(ModeError, match="at least one mode"):
        model.contributions(given(X[:20]))


@pytest.mark.parametrize("selector", [["height", "hight"], "hight"])
def test_an_unknown_column_is_refused(selector, frame):
    with pytest.raises(ModeError, match="no hight"):
        MultiModalGraphEmbedding(2, modes={"m": selector}).fit(frame)


def test_names_of_an_array_are_refused(reals):
    with pytest.raises(ModeError, match="no height"):
        MultiModalGraphEmbedding(2, modes={"m": ["height"]}).fit(reals)


@pytest.mark.parametrize(
    "position",
    [
        6,
        pytest.param(
            -7,
        ),
    ],
)
def test_a_position_beyond_the_columns_is_refused(position, reals):
    with pytest.raises(ModeError, match=rf"got {re.escape(str(position))}$"):
        MultiModalGraphEmbedding(2, modes={"m": [0, position]}).fit(reals)


@pytest.mark.parametrize("modes", ["height", 2.5, {"height"}])
def test_modes_of_a_wrong_kind_are_refused(modes, frame):
    with pytest.raises(ModeError, match="modes must be"):
        MultiModalGraphEmbedding(2, modes=modes).fit(frame)


@pytest.mark.parametrize(
    "params",
    [
        {"modes": 0},
        {"modes": 7},
        {"block_size": 0},
        {"block_size": 7},
        {"block_size": 2, "overlap": -1},
    ],
)
def test_blocks_out_of_range_are_refused(params, reals):
    with pytest.raises(GraphfoldError, match=f"{[*params][-1]} must"):
        MultiModalGraphEmbedding(2, **params).fit(reals)


def test_new_rows_have_the_columns_of_the_fit(reals, frame):
    X = {"a": reals[:, :3], "b": reals[:, 3:]}
    model = MultiModalGraphEmbedding(2).fit(X)
    with pytest.raises(ModeError, match=r"'b' must have the 3 columns.*got 2"):
        model.transform({"a": X["a"], "b": X["b"][:, :2]})
    model = MultiModalGraphEmbedding(2, modes=2).fit(reals)
    with pytest.raises(ValueError, match="5 features"):
        model.transform(reals[:, :5])
    model = MultiModalGraphEmbedding(2).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"height": "size"}))


def test_unknown_modes_are_refused(reals):
    X = {"a": reals[:, :3], "b": reals[:, 3:]}
    model = MultiModalGraphEmbedding(2).fit(X)
    with pytest.raises(ModeError, match="a, b; got c"):
        model.transform({**X, "c": reals})
    with pytest.raises(ModeError, match="got c"):
        model.transform({"c": reals})
    with pytest.raises(ModeError, match="at least one of the modes"):
        model.transform({})


def test_one_table_does_not_stand_for_two(reals):
    X = {"a": reals[:, :3], "b": reals[:, 3:]}
    model = MultiModalGraphEmbedding(2).fit(X)
    with pytest.raises(GraphfoldError):
        model.transform(reals[:5, :3] + 0.1)


def test_a_table_has_two_dimensions(reals):
    with pytest.raises(ModeError, match=r"two dimensions; got shape \(40,\)"):
        MultiModalGraphEmbedding(2).fit({"a": reals, "b": reals[:, 0]})


def test_infinity_in_an_array_is_refused(reals):
    reals[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        MultiModalGraphEmbedding(2).fit(reals)


@pytest.mark.parametrize("container", [pd.DataFrame, lambda X: {"a": X, "b": X}])
def test_infinity_in_a_table_is_refused(container, reals):
    reals[3, 1] = np.inf
    with pytest.raises(GraphfoldError, match="inf"):
        MultiModalGraphEmbedding(2).fit(container(reals))


def test_nan_in_a_sparse_table_is_refused_in_our_words(reals):
    X = sp.csr_array(reals)
    X.data[7] = np.nan
    with pytest.raises(GraphfoldError, match="NaN"):
        MultiModalGraphEmbedding(2).fit(X)
