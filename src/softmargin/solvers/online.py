"""Online runs: constraints met one after the other, weights and certified regret at any time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softmargin.kernels.constraints import ClassConstraints, Constraints
from softmargin.kernels.ledger import LEDGER, MEAN, NO_AVERAGE, TRACE, WEIGHTED, record
from softmargin.kernels.online import OnlineRules, OnlineState, learn_in_order
from softmargin.kernels.online_classes import MAX, OVR, SUM, ClassRules, ClassState, learn_classes_in_order
from softmargin.schedules import Steps
from softmargin.solvers.regret import Regret

TRACE_RECORDS = 1024
AVERAGING = {False: NO_AVERAGE, "last": NO_AVERAGE, "mean": MEAN, True: WEIGHTED, "weighted": WEIGHTED}
FORMS = {"max": MAX, "sum": SUM, "ovr": OVR}
FIRST = np.zeros(1, dtype=np.uint64)
PLAIN_PARTS = ("v", "debt", "u", "bias", "forces")
LEDGER_NAMES, TRACE_NAMES = list(LEDGER.names or ()), list(TRACE.names or ())


def averaging_of(average: Any) -> int:
    """The kernel's code for the parameter ``average``."""
    if isinstance(average, (bool, np.bool_, str)) and average in AVERAGING:
        return AVERAGING[average if isinstance(average, str) else bool(average)]
    message = f"average={average!r}: pass False or 'last', 'mean', or True or 'weighted' (step t counts t times)"
    raise ValueError(message)


@dataclass(frozen=True)
class Plan:
    """What a run is to do; two runs of one plan over the same constraints end at the same weights."""

    steps: Steps
    width: int
    averaging: int = WEIGHTED
    squared: bool = False
    free_bias: bool = False
    classes: int = 0  # 0: signed rows, one weight vector
    form: str = "max"  # of several classes: "max", "sum" or "ovr"

    @property
    def strong(self) -> bool:
        """Steps 1/(lam t), for which the certificate needs no memory of its own."""
        return self.steps.kind == "strong" and self.steps.first == 0


class OnlineRun:
    """A run under way.  ``learn`` meets constraints; the rest only looks."""

    def __init__(self, plan: Plan, forces_kept: int = 0, start: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        self.plan = plan
        shape = (plan.width, plan.classes) if plan.classes else (plan.width,)
        nothing = (0, *shape[1:])
        arrays: dict[str, Any] = {
            "v": np.zeros(shape),
            "debt": np.zeros(shape if plan.averaging != NO_AVERAGE else nothing),
            "u": np.zeros(nothing if plan.strong else shape),
            "bias": np.zeros((4, max(1, plan.classes))),
            "forces": np.zeros((forces_kept, plan.classes) if plan.classes else forces_kept),
            "ledger": np.zeros(1, dtype=LEDGER),
            "trace": np.zeros(TRACE_RECORDS, dtype=TRACE),
        }
        arrays["ledger"]["scale"] = arrays["ledger"]["stride"] = arrays["ledger"]["next"] = 1.0
        arrays["ledger"]["before"] = plan.steps.first
        if start is not None:
            arrays["v"][...], arrays["bias"][0] = start
            arrays["ledger"]["v_norm2"] = np.sum(arrays["v"] ** 2)
            arrays["ledger"]["reach"] = np.abs(arrays["bias"][0]).max()
        lam = plan.steps.lam
        self._state: OnlineState | ClassState
        if plan.classes:
            self._state = ClassState(**arrays)
            self._rules: Any = ClassRules(
                lam, plan.squared, plan.free_bias, plan.averaging, plan.strong, FORMS[plan.form]
            )
            self._kernel = learn_classes_in_order
        else:
            self._state = OnlineState(**arrays)
            self._rules = OnlineRules(lam, plan.squared, plan.free_bias, plan.averaging, plan.strong)
            self._kernel = learn_in_order

    @property
    def seen(self) -> int:
        """How many constraints were met."""
        return int(self._state.ledger["steps"][0])

    def learn(self, constraints: Constraints | ClassConstraints, order: np.ndarray) -> None:
        """Meet the constraints in the given order."""
        steps = self.plan.steps.after(self.seen, order.size)
        while order.size:
            met = self._kernel(constraints, order, steps, self._rules, self._state)
            order, steps = order[met:], steps[met:]
            if order.size and not self._thin_trace():
                self._refuse_overflow(int(order[0]))

    def after(self, constraints: Constraints | ClassConstraints, order: np.ndarray) -> "OnlineRun":
        """The run after these constraints: all of them or, if that fails, an error and this run unchanged."""
        # Steps 1/(lam t) and adaptive ones cannot overflow: rows, weights and lam have limits.  Others may, half-way.
        safe = self.plan.steps.kind in ("strong", "adaptive")
        run = self if safe else self.copy()
        run.learn(constraints, order)
        return run

    def learn_one(self, constraints: Constraints | ClassConstraints) -> bool:
        """Meet one constraint; False, and nothing learned, where its margin is not a finite number."""
        if self._state.ledger["records"][0] == TRACE_RECORDS:
            self._thin_trace()
        steps = self.plan.steps
        if steps.kind == "adaptive":
            step = steps.after(0, 0)
        else:
            step = np.array([steps.one(int(self._state.ledger["steps"][0]) + 1)])
        return bool(self._kernel(constraints, FIRST, step, self._rules, self._state))

    def present(self) -> np.ndarray:
        """The weights that the next step judges by, whatever is averaged."""
        return np.asarray(self._state.ledger["scale"][0] * self._state.v)

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercept: the average, or the last where the plan asks for none."""
        state, ledger = self._state, self._state.ledger[0]
        if self.plan.averaging == NO_AVERAGE or ledger["weight_sum"] == 0.0:
            return ledger["scale"] * state.v, state.bias[0].copy()
        average = (ledger["scale_sum"] * state.v - state.debt) / ledger["weight_sum"]
        return average, state.bias[1] / ledger["weight_sum"]

    def regret(self) -> Regret:
        """The course of the run so far, up to the last constraint met."""
        trace = self._state.trace[: self._state.ledger["records"][0]]
        if self.seen and (trace.size == 0 or trace["steps"][-1] < self.seen):
            trace = np.append(trace, self._record_now())
        names = ("steps", "paid", "gain", "u_norm2", "mistakes", "violated", "steepest", "farthest", "idle")
        steps = self.plan.steps
        return Regret(
            **{name: trace[name].copy() for name in names}, lam=steps.lam, schedule=steps.kind, step0=steps.step0,
            bounded=not self.plan.free_bias and steps.first == 0,
        )  # fmt: skip

    def _record_now(self) -> np.ndarray:
        ledger, line = self._state.ledger.copy(), np.zeros(1, dtype=TRACE)
        ledger["records"] = 0
        record(ledger[0], self.plan.strong, np.abs(self._state.bias[2]).sum(), self.plan.steps.lam, line)
        return line

    @property
    def forces(self) -> np.ndarray:
        """Sum of the force on each constraint, where the run was asked to keep it."""
        return self._state.forces

    def copy(self) -> "OnlineRun":
        """The same run, free to go its own way."""
        twin = OnlineRun(self.plan, len(self.forces))
        for ours, its in zip(self._state, twin._state, strict=True):
            its[...] = ours
        return twin

    @property
    def parts(self) -> dict[str, Any]:
        """Where the run stands, in plain arrays and numbers: with the plan, all that there is to know of it."""
        ledger, trace = self._state.ledger[0], self._state.trace[: self._state.ledger["records"][0]]
        return {
            **{name: getattr(self._state, name) for name in PLAIN_PARTS},
            "ledger": {name: ledger[name].item() for name in LEDGER_NAMES},
            "trace": {name: trace[name].copy() for name in TRACE_NAMES},
        }

    def stand_at(self, parts: dict[str, Any]) -> None:
        """Go on from where another run of this plan stood; ``ValueError`` where none can stand."""
        ledger, trace = parts["ledger"], parts["trace"]
        fine = all(getattr(self._state, name).shape == parts[name].shape for name in PLAIN_PARTS)
        fine = fine and list(ledger) == LEDGER_NAMES and list(trace) == TRACE_NAMES
        if not fine or ledger["records"] not in range(TRACE_RECORDS + 1):
            message = "these are not the parts of a run of this plan"
            raise ValueError(message)
        for name in PLAIN_PARTS:
            getattr(self._state, name)[...] = parts[name]
        for name in LEDGER_NAMES:
            self._state.ledger[name] = ledger[name]
        for name in TRACE_NAMES:
            self._state.trace[name][: ledger["records"]] = trace[name]

    def _thin_trace(self) -> bool:
        """Keep every second record of a full trace, so that a stream of any length fits; False if it is not full."""
        trace, ledger = self._state.trace, self._state.ledger[0]
        if ledger["records"] < TRACE_RECORDS:
            return False
        half = TRACE_RECORDS // 2
        trace[:half] = trace[1::2].copy()
        ledger["records"] = half
        ledger["stride"] *= 2.0
        ledger["next"] = ledger["steps"] + ledger["stride"]
        return True

    def _refuse_overflow(self, row: int) -> None:
        message = (
            f"the margin of constraint {row} overflows at step {self.seen + 1}: the steps are too long for these rows; "
            "use schedule='strong' or 'adaptive', a smaller step0, or scale the features"
        )
        raise OverflowError(message)
