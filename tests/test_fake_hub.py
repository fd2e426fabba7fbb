"""The fake Hub speaks to the real client libraries."""

import io
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

from tests.fake_hub import TOKEN, FakeHub

REPO = "oruk/small-table"
CARD = b"""---
configs:
- config_name: default
  default: true
  data_files:
  - split: table
    path: data/small.parquet
---
# Small table
"""


def parquet(rows: list[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table({"system": pa.array(rows, pa.string())}), sink)
    return sink.getvalue()


def test_load_by_name_tag_sha_and_streaming(tmp_path: Path) -> None:
    with FakeHub() as hub:
        first = hub.create(REPO, {"README.md": CARD, "data/small.parquet": parquet(["a", "b"])}, tag="v1.0.0")
        hub.create(REPO, {"README.md": CARD, "data/small.parquet": parquet(["a", "b", "c"])})
        code = f"""
import json
from datasets import load_dataset
def names(**options):
    return [row["system"] for row in load_dataset({REPO!r}, split="table", **options)]
print(json.dumps([names(), names(revision="v1.0.0"), names(revision={first!r}), names(streaming=True)]))
"""
        assert hub.run(code, tmp_path) == [["a", "b", "c"], ["a", "b"], ["a", "b"], ["a", "b", "c"]]


def test_commit_tag_and_the_errors_that_the_client_tells_apart(tmp_path: Path) -> None:
    with FakeHub() as hub:
        first = hub.create(REPO, {"README.md": CARD}, tag="v1.0.0")
        api = HfApi(endpoint=hub.url, token=TOKEN)
        content = parquet(["a"])
        # A buffer keeps huggingface_hub on the plain LFS route whether hf_xet is installed or not.
        operations = [CommitOperationAdd("data/small.parquet", io.BytesIO(content)), CommitOperationAdd("x.txt", b"x")]
        common = {"repo_id": REPO, "repo_type": "dataset", "commit_message": "add", "operations": operations}
        done = api.create_commit(parent_commit=first, **common)  # type: ignore[arg-type]
        assert hub.head(REPO) == {"README.md": CARD, "data/small.parquet": content, "x.txt": b"x"}
        assert done.oid == api.dataset_info(REPO).sha

        def status(call: object, **options: object) -> int:
            with pytest.raises(HfHubHTTPError) as refused:
                call(**options)  # type: ignore[operator]
            return int(refused.value.response.status_code)

        common["operations"] = [CommitOperationAdd("y.txt", b"y")]
        assert status(api.create_commit, parent_commit=first, **common) == 412
        assert status(api.create_tag, repo_id=REPO, tag="v1.0.0", repo_type="dataset") == 409
        with pytest.raises(RepositoryNotFoundError):
            api.dataset_info("oruk/nothing")
        with pytest.raises(RevisionNotFoundError):
            api.dataset_info(REPO, revision="v9.9.9")
        hub.expire()
        assert status(api.dataset_info, repo_id=REPO) == 401


def test_cut_connection_is_no_short_file(tmp_path: Path) -> None:
    with FakeHub() as hub:
        hub.create(REPO, {"big.bin": b"x" * 100_000})
        api = HfApi(endpoint=hub.url)
        hub.cut(r"GET .*big\.bin", after=1000, times=1)
        path = api.hf_hub_download(REPO, "big.bin", repo_type="dataset", cache_dir=tmp_path)
        assert Path(path).read_bytes() == b"x" * 100_000
