"""Copies reference models in the form the tests read: make.py REFERENCE_TINY_DIR NAME… (see golden.go for the layout)."""
import gzip
import json
import os
import sys

source, names = sys.argv[1], sys.argv[2:]
here = os.path.dirname(os.path.abspath(__file__))


def write(name, data):
    with open(os.path.join(here, name), "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))


for name in names:
    with open(os.path.join(source, name + ".gguf"), "rb") as f:
        write(name + ".gguf.gz", f.read())
    with open(os.path.join(source, name + ".json")) as f:
        ref = json.load(f)
    with open(os.path.join(source, name + ".bin"), "rb") as f:
        arrays = f.read()
    keep, out = {}, b""
    for key, t in ref["tensors"].items():
        if key.split("/")[0] not in ("logits", "hidden", "state"):
            continue
        size = 4
        for d in t["shape"]:
            size *= d
        keep[key] = {"offset": len(out), "shape": t["shape"]}
        out += arrays[t["offset"] : t["offset"] + size]
    small = {k: ref[k] for k in ("name", "arch", "prompts", "greedy", "tokenize", "chat") if k in ref}
    small["greedy"] = [{k: g[k] for k in ("prompt", "ids", "gap")} for g in ref["greedy"]]
    for k in ("hidden", "state"):
        if ref.get(k):
            small[k] = ref[k]
    # Drafts of the form that is built: the first token takes part, with no hidden state before it.
    drafts = [d for d in ref.get("draft", []) if d["rows"] == "row0"]
    if drafts:
        small["draft"] = [{k: d[k] for k in ("prompt", "first_token", "draft_ids", "gap")} for d in drafts]
    small["tensors"] = keep
    write(name + ".json.gz", json.dumps(small, separators=(",", ":")).encode())
    write(name + ".bin.gz", out)
