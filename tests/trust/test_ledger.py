"""The ledger: what is counted in several processes adds up."""

import json

from tests.trust import ledger


def test_files_of_several_processes_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "_counts", ledger.Counter())
    monkeypatch.setattr(ledger, "_figures", {})
    for process in (1, 2):
        monkeypatch.setattr(ledger.os, "getpid", lambda process=process: process)
        ledger.tried("faults", "save", "kill -9", process)
        ledger.tried("faults", "embed", "kill -9")
        ledger.measured("load", "growth", 0.5)
        ledger.write(tmp_path)
        ledger.write(tmp_path)  # nothing is left to be written
    assert len(list(tmp_path.iterdir())) == 2
    found = ledger.merged(tmp_path)
    assert found["counts"]["faults"] == {
        "save": {"kill -9": 3},
        "embed": {"kill -9": 2},
    }
    assert found["figures"] == {"load": {"growth": 0.5}}
    assert json.dumps(found)
