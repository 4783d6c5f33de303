"""Models of every kind that a file may hold, small, and what two of them have to share to be the same model."""

import numpy as np
import pandas as pd
from scipy import sparse

from cases import comparisons, stream
from softmargin import BayesianLinearRegression, PreferencePosterior, SoftMarginClassifier, SoftMarginRanker
from softmargin.constraints import Constraints, Grades, Pairs

LABELS = {
    "int": np.array([3, -1, 7]),
    "float": np.array([4.0, -2.0, -0.0]),
    "text": np.array(["pear", "äpple", "quince"]),
    "object": np.array(["pear", "äpple", "quince"], dtype=object),
    "bool": np.array([True, False]),
    "small": np.array([1, 0], dtype=np.uint8),
}


def classifiers():
    """Name and fitted classifier: batch solvers, streams, two classes and several, labels of all kinds."""
    two, several = stream(1), stream(2, classes=3)
    for solver in ("dual", "newton", "online"):
        for form in ("max", "sum", "ovr"):
            model = SoftMarginClassifier(solver=solver, multiclass=form, tol=0.1, random_state=3)
            yield f"{solver} {form}", model.fit(several.X, several.label)
    for name, labels in LABELS.items():
        data = two if labels.size == 2 else several
        yield f"labels {name}", SoftMarginClassifier().fit(data.X, labels[data.label])
    yield "hard", SoftMarginClassifier(C=np.inf).fit(np.array([[0.0, 1.0], [2.0, 3.0]]), ["no", "yes"])
    options = {"penalize_intercept": True, "class_weight": {1: 2.0, 0: np.float64(0.5)}, "loss": "squared_hinge"}
    yield "options", SoftMarginClassifier(**options).fit(two.X, two.label)
    state = np.random.RandomState(5)
    yield "generator", SoftMarginClassifier(random_state=state, solver="dual").fit(two.X, two.label)
    yield "nothing learned", SoftMarginClassifier(lam=np.float32(0.1))


def rankers():
    """Name and fitted ranker: pairs, grades, several sources."""
    told = comparisons(3)
    grades = np.arange(len(told.X)) % 4
    qid = np.arange(len(told.X)) // 9
    both = Constraints([Grades(grades, qid), Pairs(told.pairs, price=2.0)])
    yield "pairs", SoftMarginRanker(lam=0.1).fit_pairs(told.X, told.pairs, told.price, told.required)
    yield "grades", SoftMarginRanker(C=0.5, groups="equal").fit(told.X, grades, qid)
    yield "listed grades", SoftMarginRanker(C=0.5, solver="dual").fit(told.X, grades, qid)
    yield "online grades", SoftMarginRanker(C=0.5, solver="online", tol=0.5).fit(told.X, grades, qid)
    yield "sources", SoftMarginRanker().fit(told.X, both)
    yield "groups met", SoftMarginRanker(lam=0.1).partial_fit(told.X, grades, qid)
    yield "nothing learned", SoftMarginRanker()


def streams():
    """Name, a stream under way, and the same call to go on with: every schedule, average and number of classes."""
    for schedule, step0 in (("strong", None), ("sqrt", 0.3), ("constant", 0.1), ("adaptive", None)):
        for average in (False, "mean", "weighted"):
            for classes in (2, 3):
                data = stream(4, classes=classes)
                model = SoftMarginClassifier(lam=0.05, schedule=schedule, step0=step0, average=average)

                def go_on(model, data=data, classes=classes):
                    model.partial_fit(data.X, data.label, classes=range(classes))
                    model.partial_fit(data.X[:1], data.label[:1])

                go_on(model)
                yield f"{schedule} {average} {classes}", model, go_on
    told = comparisons(5)
    after_fit = SoftMarginRanker(lam=0.1).fit_pairs(told.X, told.pairs)
    yield "after fit", after_fit, lambda model: model.partial_fit_pairs(told.X, told.pairs, told.price)


def equal(one, other):
    """Whether two values that a model may have are the same to the last bit, in type too."""
    if isinstance(one, np.random.RandomState):
        return equal(one.get_state(), other.get_state())
    if hasattr(one, "parts"):
        return one.plan == other.plan and equal(one.parts, other.parts)
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and (one.tolist() == other.tolist() if one.dtype.kind in "OU" else one.tobytes() == other.tobytes())
    if type(one) is type(other) in (list, tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if type(one) is type(other) is dict:
        return one.keys() == other.keys() and all(equal(value, other[name]) for name, value in one.items())
    return type(one) is type(other) and repr(one) == repr(other)


def plain(value):
    """NumPy's scalars as Python's: a file does not tell them apart."""
    return value.item() if isinstance(value, np.generic) else value


def learned(model):
    """Everything that a model is, by name."""
    known = {name: plain(value) for name, value in vars(model).items() if name != "_live"}
    if isinstance(known.get("class_weight"), dict):
        known["class_weight"] = {plain(key): plain(value) for key, value in known["class_weight"].items()}
    if "_stream_asked" in known:
        known["_stream_asked"] = tuple(map(plain, known["_stream_asked"]))
    return known


def regressions():
    """Name, a regression under way, and the same calls to go on with: every kind of noise, few rows and many."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=150)
    options = (
        {}, {"noise": 0.5}, {"noise": "rows"}, {"noise": "loglinear"}, {"likelihood": "student_t"},
        {"forgetting": 0.99}, {"evidence": True, "fit_intercept": False}, {"prior_precision": np.diag([1.0, 2.0, 3.0])},
    )  # fmt: skip
    for kind in options:
        for rows in (20, 150):
            for layout in (np.asarray, sparse.csr_matrix, sparse.csr_array)[: 3 if "likelihood" in kind else 1]:

                def go_on(model, layout=layout):
                    model.partial_fit(layout(X[:9]), y[:9], sample_weight=np.arange(9) % 3)
                    for place in range(3):
                        model.partial_fit(X[place : place + 1], y[place : place + 1])

                model = BayesianLinearRegression(**kind).partial_fit(layout(X[:rows]), y[:rows])
                go_on(model)
                yield f"{kind} {rows} {layout.__name__}", model, go_on
    yield "nothing learned", BayesianLinearRegression(), lambda model: model.fit(X, y)
    frame = pd.DataFrame(X, columns=list("abc"))
    yield "named", BayesianLinearRegression().fit(frame, y), lambda model: model.partial_fit(frame[:5], y[:5])


def believed(model):
    """Everything that a regression or a posterior of preferences believes."""
    if isinstance(model, PreferencePosterior):
        return [model.mean_, model.precision_, model.answers_, model.suggest(n=2), repr(model.ranking())]
    if not hasattr(model, "mean_"):
        return []
    rows = np.arange(6.0).reshape(2, 3)
    if hasattr(model, "feature_names_in_"):
        rows = pd.DataFrame(rows, columns=model.feature_names_in_)
    return [model.mean_, model.precision_, model.predict(rows, return_std=True), model.noise_variance_]


def preferences():
    """Name, a posterior of preferences, and an answer to go on with: judges, ties, undone answers, named columns."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(12, 3))
    X[5] = X[2]
    for name, items, options in (
        ("plain", X, {}),
        ("no ties", pd.DataFrame(X, columns=list("abc")), {"ties": False, "prior_precision": [1.0, 2.0, 3.0]}),
    ):
        model = PreferencePosterior(items, **options)
        yield f"{name}, no answer", model, lambda model: model.answer(0, 1, "left")
        model = PreferencePosterior(items, **options)
        for number in range(30):
            a, b = rng.choice(12, 2, replace=False).tolist()
            verdict = ("left", "right", "equal")[number % (2 if "ties" in options else 3)]
            model.answer(a, b, verdict, judge=(None, "ann", 7, "7")[number % 4])
        model.undo(4)
        model.undo(29)
        yield name, model, lambda model: model.answer(3, 4, "right", judge="ann")
