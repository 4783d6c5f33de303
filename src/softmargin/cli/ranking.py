"""``rank``: look at the comparisons, then rank the items, with intervals."""

import warnings
from pathlib import Path

import numpy as np

from softmargin.cli.checking import say_verdict, verdict_of
from softmargin.cli.fitting import working
from softmargin.cli.speak import Speaker
from softmargin.data import read_comparisons, read_items
from softmargin.data.items import Comparisons
from softmargin.estimators.preference import PreferencePosterior
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.models import save

MOST_BELIEVED = 2_000  # features of a posterior that is still quick


def believed(X: np.ndarray, told: Comparisons) -> PreferencePosterior:
    """All answers, also those of "equal", and who gave them."""
    posterior = PreferencePosterior(X)
    judges = told.judge if told.judge is not None else np.full(len(told), None)
    for judge in dict.fromkeys(judges.tolist()):
        same = np.array([one == judge for one in judges], dtype=bool)
        posterior.answer_pairs(told.pairs[same], judge=judge)
    if told.equal is not None:
        judges = told.equal.judge if told.equal.judge is not None else np.full(len(told.equal), None)
        for (a, b), judge in zip(told.equal.pairs.tolist(), judges.tolist(), strict=True):
            posterior.answer(a, b, "equal", judge=judge)
    return posterior


def rank(
    speaker: Speaker, items_file: Path, comparisons: Path, out: Path | None,
    *, C: float, level: float, top: int, standardise: bool,
) -> None:  # fmt: skip
    """The verdict first, then the ranking by the certified weights, beside what the posterior says of it."""
    items = read_items(items_file, standardise=standardise)
    told = read_comparisons(comparisons, items)
    say_verdict(speaker, verdict_of(told, items.ids, items))
    speaker.say()
    model = SoftMarginRanker(C=C)
    with working(speaker, "fitting"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="NOT converged")  # the certificate says it
        model.fit_pairs(items.frame, told.pairs, weight=told.weight, margin=told.margin)
        posterior = believed(items.X, told)
        ranking, weights = posterior.ranking(level), posterior.weights(level)
    speaker.say(model.certificate_)
    order = model.rank(items.frame)
    utility = model.predict(items.frame)
    shown = len(order) if top == 0 else top
    speaker.table(
        f"ranking, with the ranks of {level:.0%} of cases",
        ("rank", "id", "utility", "from", "to"),
        ((place, items.ids[row], utility[row], ranking.low[row], ranking.high[row])
         for place, row in enumerate(order[:shown], 1)),
    )  # fmt: skip
    names = items.feature_names
    heavy = np.argsort(-np.abs(model.coef_), kind="stable")
    speaker.table(
        f"weights, and what the posterior says of them in {level:.0%} of cases",
        ("feature", "weight", "from", "to"),
        ((names[k], model.coef_[k], weights.low[k], weights.high[k]) for k in heavy[:shown]),
    )
    if len(order) > shown:
        speaker.say(f"{len(order) - shown} more items: --top 0 shows all")
    if out is not None:
        save(model, out, columns=items.columns)
        speaker.say(f"kept in {out}")
    speaker.tell(
        model=None if out is None else str(out), certificate=vars(model.certificate_), level=level,
        ranking=[{"rank": place, "id": items.ids[row], "utility": utility[row], "low": ranking.low[row],
                  "high": ranking.high[row]} for place, row in enumerate(order, 1)],
        weights=[{"feature": names[k], "weight": model.coef_[k], "mean": weights.mean[k], "low": weights.low[k],
                  "high": weights.high[k]} for k in heavy],
        expected_tau=posterior.expected_tau(),
    )  # fmt: skip
