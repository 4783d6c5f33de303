"""The report of the solver benchmark, on results made up here: no peer needs to be installed."""

import numpy as np
import pytest
from cells import TOL, Cell, Results, Run
from report import put
from solver_plot import plot_gaps
from solver_report import beside_better, closest, furthest, ours_table, peers_table, publish, verdicts

MARKS = ("solver-verdicts", "solvers", "solver-peers")


def cell(problem="a9a", C=1.0, form="", auto=0.1, peers=()):
    """A cell that dual solved in 0.1 s, newton not at all, and auto as it is told."""
    ours = {
        "auto": Run("auto", "dual, 10 passes, tol", auto, 5e-7),
        "dual": Run("dual", "dual, 10 passes, tol", 0.1, 5e-7),
        "newton": Run("newton", "newton, 1000 passes, max_passes", 3.0, 1e-3, warned=True),
    }
    return Cell(problem, form, C, (1000, 20), ours, [Run("auto", "tol=0.001", 0.05, 9e-4)], list(peers), 10.0, 1e-8)


def peer(name, seconds, gap, ours=np.nan):
    """One rung of a peer's ladder."""
    return Run(name, "-e 0.1", seconds, gap, ours)


def grid():
    """One cell for each kind of target."""
    good = (peer("LIBLINEAR -s 3", 10.0, 9e-4, 0.1), peer("ReHLine", 1.0, 0.2, 0.1), peer("Snap ML", 0.001, 0.9))
    several = (peer("LIBLINEAR -s 4", 1.0, 1e-3, 0.1),)
    cells = [cell("tall", peers=good), *(cell("text", C, peers=good) for C in (0.1, 1.0, 10.0, 100.0))]
    return [*cells, cell("mnist", form="max", peers=several), cell("mnist", form="sum")]


@pytest.mark.nojit
def test_every_target_has_a_verdict_and_good_results_meet_them_all():
    """Results that reach every target are met in every line, and there is a line for each."""
    lines = verdicts(grid())
    assert len(lines) == 1 + 2 + 6 + 1 + 2 + 2
    assert all(line.startswith("- **met**") for line in lines), lines


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda cells: setattr(cells[0].ours["auto"], "warned", True), "certified to 1e-6 without a warning"),
        (lambda cells: setattr(cells[0].peers[0], "seconds", 2.9), "faster than LIBLINEAR's best"),
        (lambda cells: setattr(cells[0].peers[0], "seconds", 0.9), "reaches 1e-3"),
        (lambda cells: setattr(cells[1].peers[0], "seconds", 0.09), "text, C = 0.1: 9e-04"),
        (lambda cells: setattr(cells[4].ours["auto"], "seconds", 4.1), "text, C = 100: certified"),
        (lambda cells: setattr(cells[0].ours["auto"], "seconds", 0.16), "auto by the better"),
        (lambda cells: setattr(cells[0].peers[0], "ours", 1e5), "geometric mean"),
        (lambda cells: setattr(cells[0].peers[0], "ours", 13.0), "slowest cell: 0.77 (tall, C = 1)"),
        (lambda cells: setattr(cells[5].peers[0], "ours", 0.4), "mnist max"),
        (lambda cells: setattr(cells[6].ours["auto"], "gap", 2e-6), "mnist sum"),
    ],
)
def test_a_target_that_is_not_reached_is_said_to_be_missed(spoil, word):
    """One number too bad, and the line of its target says so."""
    cells = grid()
    spoil(cells)
    assert any(line.startswith("- **missed**") and word in line for line in verdicts(cells)), verdicts(cells)


@pytest.mark.nojit
def test_only_near_weights_are_compared_and_the_hardest_setting_counts():
    """Weights far from the best are no peer to beat, however quick; the smallest ratio of the others is taken.

    Where none is near, the nearest counts, so that no cell is left out that only we solved.
    """
    runs = (peer("SGDClassifier", 0.001, 0.3, 0.1), peer("LinearSVC", 0.2, 1e-2, 0.1), peer("ReHLine", 0.3, 1e-4, 0.1))
    measured = cell(peers=runs)
    assert closest(measured) is runs[1]
    assert furthest(measured) is runs[2]
    assert closest(cell(peers=runs[:1])) is runs[0]
    assert closest(cell()) is None


@pytest.mark.nojit
def test_auto_is_compared_with_a_solver_that_got_there():
    """A solver that did not prove the gap is no measure for auto; where none did, there is no ratio.

    An auto that did not prove what one of the two did is infinitely slower.
    """
    measured = cell(auto=0.2)
    assert beside_better(measured) == pytest.approx(2.0)
    measured.ours["auto"].gap = 2.0 * TOL
    assert beside_better(measured) == np.inf
    measured.ours["dual"].gap = 2.0 * TOL
    assert np.isnan(beside_better(measured))


@pytest.mark.nojit
def test_a_peers_gap_that_we_did_not_prove_counts_as_never():
    """However quickly we gave up, the ratio is 0, and so is the mean."""
    lines = verdicts([cell(peers=[peer("LinearSVC", 1.0, 1e-2, np.inf)])])
    assert any("missed" in line and "slowest cell: 0.00" in line for line in lines), lines
    assert any("missed" in line and "beat: 0.0 over 1 cells" in line for line in lines), lines


@pytest.mark.nojit
def test_tables_have_one_line_a_cell_and_one_word_a_column():
    """All cells are in our table, those with peers in theirs, and every line is as long as its heading."""
    for make, lines in ((ours_table, 7), (peers_table, 6)):
        heading, rows = make(grid())
        assert len(rows) == lines
        assert {len(row) for row in rows} == {len(heading)}


@pytest.mark.nojit
def test_results_come_back_from_their_file_and_new_cells_replace_old_ones(tmp_path):
    """Nothing is lost on the way to JSON and back; a cell measured again takes the place of the old one."""
    results = Results("when and with what", grid())
    results.save(tmp_path / "build" / "solvers.json")
    again = Results.load(tmp_path / "build" / "solvers.json")
    assert repr(again) == repr(results)
    again.update([cell("tall", auto=7.0), cell("wide")])
    assert [str(one) for one in again.cells] == [*(str(one) for one in results.cells), "wide, C = 1"]
    assert again.cells[0].ours["auto"].seconds == 7.0


def test_a_report_goes_into_its_places_on_the_page_with_its_picture(tmp_path):
    """Text outside the marks stays, text inside is replaced, and the picture is written beside the page."""
    page = tmp_path / "benchmarks.md"
    page.write_text(
        "above\n" + "\n".join(f"<!-- {name}: begin -->\nold\n<!-- {name}: end -->" for name in MARKS) + "\nbelow\n"
    )
    publish(Results("when and with what", grid()), page)
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert text.count("when and with what") == 3
    assert (tmp_path / "figures" / "solvers.svg").read_text().startswith("<?xml")


def test_the_same_results_make_the_same_picture(tmp_path):
    """Byte for byte, so that a new picture means new numbers."""
    for name in ("one.svg", "two.svg"):
        plot_gaps(grid(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


@pytest.mark.nojit
def test_a_page_without_the_marks_is_refused(tmp_path):
    """A table that has no place is an error, not a table at the end of the page."""
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(ValueError, match="solvers: begin"):
        put("solvers", ["a table"], page)
