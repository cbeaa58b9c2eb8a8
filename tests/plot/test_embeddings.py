"""What a scatter shows: the rows, their classes, their numbers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from graphfold import GraphKernelPCA, plot
from graphfold.errors import GraphfoldError


@pytest.fixture
def Z(rng):
    return rng.standard_normal((40, 3))


def colour(points):
    return to_hex(points.get_facecolor()[0])


def test_points_are_the_columns_asked_for(Z):
    made = plot.EmbeddingDisplay.from_embedding(Z, components=(2, 0))
    (points,) = made.scatter_
    assert_allclose(points.get_offsets(), Z[:, [2, 0]])
    assert made.ax_.get_xlabel() == "component 3"
    assert made.ax_.get_ylabel() == "component 1"
    assert made.texts_ == []


def test_each_class_is_drawn_in_its_colour_and_named_at_its_median(Z):
    y = np.arange(40) % 4
    made = plot.EmbeddingDisplay.from_embedding(Z, y)
    assert [text.get_text() for text in made.texts_] == list("0123")
    for i, (points, text) in enumerate(zip(made.scatter_, made.texts_, strict=True)):
        assert_allclose(points.get_offsets(), Z[y == i, :2])
        assert colour(points) == plot.COLOURS[i].lower()
        assert_allclose(text.xy, np.median(Z[y == i, :2], axis=0))


def test_a_model_says_what_its_axes_explain(model):
    ax = plot.embedding(model, components=(0, 2))
    ratios = 100 * model.explained_variance_ratio_
    assert_allclose(ax.collections[0].get_offsets(), model.embedding_[:, [0, 2]])
    assert ax.get_xlabel() == f"component 1 ({ratios[0]:.0f} %)"
    assert ax.get_ylabel() == f"component 3 ({ratios[2]:.0f} %)"


def test_a_table_names_its_columns(rng):
    X = pd.DataFrame(rng.random((20, 3)), index=[f"r{i}" for i in range(20)])
    X.columns = list("abc")
    table = GraphKernelPCA(2).set_output(transform="pandas").fit_transform(X)
    ax = plot.embedding(table)
    assert_allclose(ax.collections[0].get_offsets(), table.to_numpy())
    assert ax.get_xlabel() == "graphkernelpca0"


def test_a_series_meets_the_rows_of_a_table_by_name(Z):
    names = [f"r{i}" for i in range(40)]
    y = pd.Series(np.where(np.arange(40) < 30, "a", "b"), index=names)
    shuffled = y.sample(frac=1, random_state=0)
    made = plot.EmbeddingDisplay.from_embedding(pd.DataFrame(Z, index=names), shuffled)
    assert_allclose(made.scatter_[1].get_offsets(), Z[30:, :2])
    with pytest.raises(GraphfoldError, match="its index lacks r0, r1, r2, r3, r4, "):
        plot.embedding(pd.DataFrame(Z, index=names), y.rename(lambda name: name + "x"))


def test_categories_keep_their_order_and_colours_whether_they_occur_or_not(Z):
    values = np.array(["low", "high"])[np.arange(40) % 2]
    y = pd.Series(pd.Categorical(values, categories=["low", "middle", "high"]))
    for labels in (y, y.cat.as_ordered(), y.array):
        made = plot.EmbeddingDisplay.from_embedding(Z, labels)
        assert [text.get_text() for text in made.texts_] == ["low", "high"]
        assert [colour(points) for points in made.scatter_] == [
            plot.COLOURS[0].lower(),
            plot.COLOURS[2].lower(),
        ]


@pytest.mark.parametrize(
    "labels",
    [
        [-1, 0, 1, 0],
        [None, "0", "1", "0"],
        [np.nan, 0.0, 1.0, 0.0],
        pd.Series([pd.NA, 0, 1, 0], dtype="Int64"),
        pd.Categorical([None, "0", "1", "0"]),
    ],
    ids=["-1", "None", "NaN", "NA", "category"],
)
def test_points_without_label_are_grey_and_beneath(labels):
    Z = np.arange(8.0).reshape(4, 2)
    made = plot.EmbeddingDisplay.from_embedding(Z, labels)
    assert [points.get_label() for points in made.scatter_] == ["no label", "0", "1"]
    assert_allclose(made.scatter_[0].get_offsets(), Z[:1])
    red, green, blue, _ = made.scatter_[0].get_facecolor()[0]
    assert red == green == blue
    assert [text.get_text() for text in made.texts_] == ["0", "1"]


def test_minus_one_and_one_are_two_classes():
    made = plot.EmbeddingDisplay.from_embedding(np.eye(2), [-1, 1])
    assert [text.get_text() for text in made.texts_] == ["-1", "1"]


def test_numbers_get_a_colour_bar(Z):
    values = pd.Series(Z[:, 2].copy(), name="age")
    values[:5] = np.nan
    made = plot.EmbeddingDisplay.from_embedding(Z, values)
    grey, points = made.scatter_
    assert_allclose(grey.get_offsets(), Z[:5, :2])
    assert_allclose(points.get_offsets(), Z[5:, :2])
    assert_allclose(points.get_array(), values[5:])
    assert points.get_cmap().name == "viridis"
    assert made.colorbar_.mappable is points
    assert made.colorbar_.ax.get_ylabel() == "age"


def test_whole_numbers_are_classes_until_they_are_many_or_said_to_be_numbers(Z):
    few, many = np.arange(40) % 3, np.arange(41)
    assert len(plot.EmbeddingDisplay.from_embedding(Z, few).texts_) == 3
    by_number = plot.EmbeddingDisplay.from_embedding(Z, few, kind="numbers")
    assert by_number.colorbar_ is not None
    assert plot.EmbeddingDisplay.from_embedding(
        np.eye(41), many
    ).colorbar_.mappable.get_array().tolist() == list(range(41))
    by_class = plot.EmbeddingDisplay.from_embedding(Z, Z[:, 0], kind="classes")
    assert len(by_class.scatter_) == 40


def test_dates_are_numbers_on_a_scale_of_dates(Z):
    days = np.datetime64("2024-01-01") + np.arange(40)
    made = plot.EmbeddingDisplay.from_embedding(Z, days)
    made.figure_.canvas.draw()
    ticks = [tick.get_text() for tick in made.colorbar_.ax.get_yticklabels()]
    assert "Feb" in ticks


def test_many_classes_are_in_a_legend_in_the_order_people_count(Z):
    names = [f"class {i % 25}" for i in range(40)]
    for layout in (None, "constrained"):
        figure, ax = plt.subplots(layout=layout)
        made = plot.EmbeddingDisplay.from_embedding(Z, names, ax=ax)
        assert made.texts_ == []
        listed = [text.get_text() for text in made.legend_.get_texts()]
        assert listed == [f"class {i}" for i in range(25)]
        figure.canvas.draw()
        box = made.legend_.get_window_extent()
        assert ax.get_window_extent().x1 <= box.x0 + 1
        assert box.x1 <= figure.bbox.x1


def test_names_are_shown_as_they_are_whatever_signs_they_have(Z):
    few = plot.EmbeddingDisplay.from_embedding(Z, ["$a_$", "_b"] * 20)
    few.figure_.canvas.draw()
    assert [text.get_text() for text in few.texts_] == ["$a_$", "_b"]
    assert not any(text.get_parse_math() for text in few.texts_)
    many = plot.EmbeddingDisplay.from_embedding(Z, [f"_{i % 25}$" for i in range(40)])
    listed = [text.get_text().strip() for text in many.legend_.get_texts()]
    assert listed == [f"_{i}$" for i in range(25)]


def test_more_classes_than_anyone_reads_are_counted(rng):
    ax = plot.embedding(rng.random((70, 2)), [f"c{i}" for i in range(70)])
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.texts] == ["70 classes"]


def test_colours_may_be_chosen_by_class_or_in_order(Z):
    y = np.array(["a", "b"])[np.arange(40) % 2]
    some = plot.EmbeddingDisplay.from_embedding(Z, y, colours={"b": "#ff0000"})
    assert [colour(p) for p in some.scatter_] == [plot.COLOURS[0].lower(), "#ff0000"]
    all_of_them = plot.EmbeddingDisplay.from_embedding(Z, y, colours=["k", "#ff0000"])
    assert [colour(p) for p in all_of_them.scatter_] == ["#000000", "#ff0000"]
    with pytest.raises(GraphfoldError, match="each of the 2 classes in their order; g"):
        plot.embedding(Z, y, colours=["k"])
    with pytest.raises(GraphfoldError, match="got 'no colour'"):
        plot.embedding(Z, y, colours={"a": "no colour"})


def test_many_points_are_faint_pixels_and_few_are_not(rng):
    few = plot.EmbeddingDisplay.from_embedding(rng.random((50, 2))).scatter_[0]
    many = plot.EmbeddingDisplay.from_embedding(rng.random((100_000, 2))).scatter_[0]
    assert (few.get_rasterized(), many.get_rasterized()) == (False, True)
    assert many.get_alpha() < 0.5 * few.get_alpha()
    assert many.get_sizes()[0] < few.get_sizes()[0]


def test_what_is_passed_on_reaches_the_points(Z):
    made = plot.EmbeddingDisplay.from_embedding(Z, s=7, alpha=0.5, marker="s")
    assert made.scatter_[0].get_sizes().tolist() == [7]
    assert made.scatter_[0].get_alpha() == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model_or_Z": np.eye(3)[:, :1]}, r"two columns; got shape \(3, 1\): use n_c"),
        ({"model_or_Z": [[1, np.nan], [1, 2]]}, "finite; rows 0 are not"),
        ({"model_or_Z": "text"}, r"rows and columns|numbers; got str"),
        ({"labels": [1, 2]}, r"each of the 3 rows; got shape \(2,\)"),
        ({"labels": 7}, "sequence with one value for each row; got 7"),
        ({"labels": list("abc"), "kind": "numbers"}, "values such as 'a': use kind"),
        ({"kind": "colour"}, "kind must be one of 'auto', 'classes', 'numbers'; got"),
        ({"components": (0, 3)}, r"between 0 and 2; got \(0, 3\)"),
        ({"components": 1}, "two column numbers between 0 and 2; got 1"),
    ],
)
def test_a_mistake_is_named_and_leaves_no_figure(arguments, message):
    with pytest.raises(GraphfoldError, match=message):
        plot.embedding(**{"model_or_Z": np.eye(3), **arguments})
    assert plt.get_fignums() == []


def test_the_power_of_ten_of_a_scale_is_over_its_numbers(Z):
    made = plot.EmbeddingDisplay.from_embedding(Z, 1e8 * Z[:, 2])
    made.figure_.canvas.draw()
    said = made.colorbar_.ax.yaxis.get_offset_text()
    assert said.get_text()
    assert said.get_window_extent().x0 >= made.colorbar_.ax.get_window_extent().x0 - 1
