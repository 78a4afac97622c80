"""The files of a run: a CSV for each group, what failed, and where the figures are from."""

import csv
import io
import json
import os
import pathlib
import tarfile

FAILED = "failed"


def csv_text(rows):
    """All columns of all rows, in the order in which they first come."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    # What was measured stands behind what describes it, also where rows differ in columns.
    measured = [name for name in MEASURED if name in columns]
    columns = [name for name in columns if name not in MEASURED] + measured
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


MEASURED = ["us", "us_min", "us_max", "gb_per_s", "tflop_per_s", "clock_mhz", "clock_min_mhz",
            "power_w", "temperature_c", "clock_reasons", "timing", "sets", "launches"]


class Results:
    """Rows by group, written to a folder or into one archive there."""

    def __init__(self, folder, archive):
        self.rows, self.provenance = {}, {}
        self._folder, self._archive = pathlib.Path(folder), archive
        self._folder.mkdir(parents=True, exist_ok=True)

    def add(self, group, row):
        self.rows.setdefault(group, []).append(row)

    def fail(self, group, columns, status, reason):
        """`status`: failed or skipped."""
        what = " ".join(f"{name}={value}" for name, value in columns.items() if value != "")
        self.add(FAILED, {"group": group, "status": status, "case": what, "reason": reason})

    def count(self, group, status):
        return sum(row["group"] == group and row["status"] == status
                   for row in self.rows.get(FAILED, []))

    def write(self):
        texts = {f"{group}.csv": csv_text(rows) for group, rows in self.rows.items()}
        texts["provenance.json"] = json.dumps(self.provenance, indent=1) + "\n"
        if self._archive:
            self._pack(texts)
        else:
            for name, text in texts.items():
                (self._folder / name).write_text(text)

    def _pack(self, texts):
        """A run that is cut short leaves the archive before."""
        unfinished = self._folder / ".kernels.tar.gz"
        with tarfile.open(unfinished, "w:gz") as archive:
            for name, text in texts.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        os.replace(unfinished, self._folder / "kernels.tar.gz")


def best(rows, column):
    values = [row[column] for row in rows if row.get(column) not in (None, "")]
    return f"{max(values):.0f}" if values else "-"


def summary(results, seconds):
    """Lines of a table: groups, their rows, the best rates, seconds."""
    lines = [f"{'group':<12}{'rows':>6}{'failed':>8}{'skipped':>9}{'GB/s':>8}{'TFLOP/s':>9}"
             f"{'s':>8}"]
    for group, spent in seconds.items():
        rows = results.rows.get(group, [])
        lines.append(f"{group:<12}{len(rows):>6}{results.count(group, 'failed'):>8}"
                     f"{results.count(group, 'skipped'):>9}{best(rows, 'gb_per_s'):>8}"
                     f"{best(rows, 'tflop_per_s'):>9}{spent:>8.1f}")
    return lines
