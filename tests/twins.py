"""The algorithms of the notes, line by line in NumPy: slow, obvious, and written without a look at ours.

Each returns the weights after every step, in the letters of its note: ``lam`` is the note's λ, ``alpha`` its step
size as a function of t = 1, 2, ...  ``price`` and ``required`` are its section on weighted points: slack priced
with s_t, and a number other than 1 on the right-hand side.
"""

import numpy as np


def wu_ranking(better, worse, lam, alpha, price, required):
    """Wu 1.4, pseudo-code of the online support vector ranking machine."""
    T, d = better.shape
    w, path = np.zeros(d), []
    for t in range(1, T + 1):
        delta = worse[t - 1] - better[t - 1]
        grad = lam / T * w
        if np.dot(w, delta) > -required[t - 1]:
            grad = grad + price[t - 1] * delta
        w = w - alpha(t) * grad
        path.append(w)
    return np.array(path)


def holladay_ranking(better, worse, lam, alpha, price, required):
    """Holladay 3, outline of online support vector ranking: shrink, then move if the pair was not satisfied."""
    w, path = np.zeros(better.shape[1]), []
    for t, (preferred, other) in enumerate(zip(better, worse, strict=True), 1):
        shrunk = w - alpha(t) * lam * w
        satisfied = w @ preferred >= w @ other + required[t - 1]
        w = shrunk if satisfied else shrunk - alpha(t) * price[t - 1] * (other - preferred)
        path.append(w)
    return np.array(path)


def wu_binary(F, y, lam, alpha, price, required):
    """Wu 2, pseudo-code of the general support vector machine."""
    T, d = F.shape
    w, path = np.zeros(d), []
    for t in range(1, T + 1):
        grad = lam / T * w
        if -y[t - 1] * np.dot(w, F[t - 1]) > -required[t - 1]:
            grad = grad - price[t - 1] * y[t - 1] * F[t - 1]
        w = w - alpha(t) * grad
        path.append(w)
    return np.array(path)


def doersch_binary(F, y, lam, alpha, price, required):
    """Doersch 1.1, Holladay 4.1 and Kraut 1: the loss is λ |w|² + slack, so the shrinking has a factor 2."""
    w, path = np.zeros(F.shape[1]), []
    for t, (f, label) in enumerate(zip(F, y, strict=True), 1):
        slack = max(0.0, required[t - 1] - label * (w @ f))
        w = w - 2 * alpha(t) * lam * w + (alpha(t) * price[t - 1] * label * f if slack > 0 else 0.0)
        path.append(w)
    return np.array(path)


def pegasos(X, y, lam, alpha, price, required):
    """Zisserman: cycling through the data; ``alpha`` is his eta."""
    w, path = np.zeros(X.shape[1]), []
    for t in range(1, len(X) + 1):
        x, label, eta = X[t - 1], y[t - 1], alpha(t)
        violated = label * (w @ x) < required[t - 1]
        w = w - eta * (lam * w - price[t - 1] * label * x) if violated else w - eta * lam * w
        path.append(w)
    return np.array(path)


def kraut_max(F, label, classes, lam, alpha, price, required):
    """Kraut 2.2, the max representation: the right class and the argmax class move, and every class shrinks."""
    W, path = np.zeros((classes, F.shape[1])), []
    for t, (f, right) in enumerate(zip(F, label, strict=True), 1):
        close = W @ f + required[t - 1]
        close[right] = -np.inf
        rival = np.argmax(close)
        slack = max(0.0, close[rival] - W[right] @ f)
        partial = 2 * lam * W
        if slack > 0:
            partial[right] -= price[t - 1] * f
            partial[rival] += price[t - 1] * f
        W = W - alpha(t) * partial
        path.append(W)
    return np.array(path)


def kraut_sum(F, label, classes, lam, alpha, price, required):
    """Kraut 2.2, the multiple constraints: the right class, and every class that violates its constraint."""
    W, path = np.zeros((classes, F.shape[1])), []
    for t, (f, right) in enumerate(zip(F, label, strict=True), 1):
        partial = 2 * lam * W
        for rival in range(classes):
            if rival != right and W[right] @ f < W[rival] @ f + required[t - 1]:
                partial[right] -= price[t - 1] * f
                partial[rival] += price[t - 1] * f
        W = W - alpha(t) * partial
        path.append(W)
    return np.array(path)


def one_against_rest(F, label, classes, lam, alpha, price, required):
    """As many binary runs as classes, each class against all others."""
    runs = [doersch_binary(F, np.where(label == k, 1.0, -1.0), lam, alpha, price, required) for k in range(classes)]
    return np.stack(runs, axis=1)


def averaged(path, average):
    """The weights that ``average`` asks for: the last, their mean, or their mean with step t counted t times."""
    if average in (False, "last"):
        return path[-1]
    counts = np.ones(len(path)) if average == "mean" else np.arange(1.0, len(path) + 1)
    return np.tensordot(counts, path, 1) / counts.sum()


# What one step pays and where its tangent lies, at the weights before the step (W has one line a class).


def before(path):
    """The weights that each step was judged at: zero, then the weights after the step before."""
    return np.concatenate([np.zeros_like(path[:1]), path[:-1]])


def signed_losses(Z, path, lam, price, required, *, squared=False):
    """Loss paid and gradient at each step of a run over signed rows Z, and the margins it saw."""
    w = before(path)
    margins = np.einsum("td,td->t", Z, w)
    slack = np.maximum(0.0, required - margins)
    paid = 0.5 * lam * (w**2).sum(1) + price * (slack**2 if squared else slack)
    force = price * (2 * slack if squared else slack > 0)
    return paid, lam * w - force[:, None] * Z, margins


def class_losses(F, label, path, lam, price, required, form):
    """Loss paid and gradient at each step of a run over classes, and the margins against the closest rival."""
    W, T = before(path), len(F)
    scores = np.einsum("tkd,td->tk", W, F)
    gradients = lam * W
    paid, margins = 0.5 * lam * (W**2).sum((1, 2)), np.empty(T)
    for t in range(T):
        right, rivals = label[t], np.delete(np.arange(W.shape[1]), label[t])
        margins[t] = scores[t, right] - scores[t, rivals].max()
        if form == "ovr":
            sign = np.where(np.arange(W.shape[1]) == right, 1.0, -1.0)
            slack = np.maximum(0.0, required[t] - sign * scores[t])
            gradients[t] -= price[t] * np.outer((slack > 0) * sign, F[t])
        else:
            slack = np.maximum(0.0, required[t] + scores[t, rivals] - scores[t, right])
            if form == "max":
                slack[np.arange(len(rivals)) != np.argmax(slack)] = 0.0
            gradients[t, rivals] += price[t] * np.outer(slack > 0, F[t])
            gradients[t, right] -= price[t] * np.sum(slack > 0) * F[t]
        paid[t] += price[t] * slack.sum()
    return paid, gradients, margins
