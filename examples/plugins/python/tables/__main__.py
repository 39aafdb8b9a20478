"""A set of tools in Python: what is in a table, so that a model need not read all of it.

summarize_table says of a CSV or TSV file how many rows it has, and of each column its type, its range, its mean and what is missing.
"""

import csv
import itertools
import json
import math
import os

import grpc
import tool_pb2 as pb
import tool_pb2_grpc

import pooled_plugin

MAX_FILE = 64 << 20  # bytes
MAX_COLUMNS = 200
MAX_KINDS = 1000  # different texts of a column that are told apart
PART = 256 << 10  # bytes of a result in one message

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "a CSV or TSV file of the project whose first row names the columns"},
    },
    "required": ["path"],
}


class Failed(Exception):
    """The tool cannot do what it was asked to; the model reads why."""


def inside(root, path):
    """Returns the file that path names in the project. A plugin has the rights of its user, so it keeps itself to the project."""
    root = os.path.realpath(root)
    full = os.path.realpath(os.path.join(root, path))
    if os.path.commonpath([root, full]) != root:
        raise Failed(f"{path}: is outside of the project")
    if not os.path.isfile(full):
        raise Failed(f"{path}: there is no such file")
    if os.path.getsize(full) > MAX_FILE:
        raise Failed(f"{path}: has more than {MAX_FILE >> 20} MB")
    return full


class Column:
    def __init__(self, name):
        self.name, self.count, self.missing = name, 0, 0
        self.numbers, self.total, self.least, self.most = True, 0.0, math.inf, -math.inf
        self.kinds = set()

    def add(self, text):
        text = text.strip()
        if not text:
            self.missing += 1
            return
        self.count += 1
        if len(self.kinds) <= MAX_KINDS:
            self.kinds.add(text)
        try:
            x = float(text)
        except ValueError:
            self.numbers = False
            return
        self.total += x
        self.least, self.most = min(self.least, x), max(self.most, x)

    def line(self):
        line = f"{self.name}: "
        if self.count == 0:
            line += "empty"
        elif self.numbers:
            line += f"number, {self.least:g} to {self.most:g}, mean {self.total / self.count:.6g}"
        else:
            kinds = f"more than {MAX_KINDS}" if len(self.kinds) > MAX_KINDS else str(len(self.kinds))
            line += f"text, {kinds} different"
        return line + (f", {self.missing} missing" if self.missing else "")


def summarize(root, arguments, active):
    path = arguments["path"]
    try:
        with open(inside(root, path), encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            rows = csv.reader(file, delimiter="\t" if "\t" in first else ";" if ";" in first else ",")
            columns = [Column(name.strip() or f"column {i + 1}") for i, name in enumerate(next(rows, []))]
            if not 1 <= len(columns) <= MAX_COLUMNS:
                raise Failed(f"{path}: has {len(columns)} columns, want 1 to {MAX_COLUMNS}")
            count = 0
            for count, row in enumerate(rows, start=1):
                if count % 10_000 == 0 and not active():
                    raise Failed("cancelled")
                for column, text in itertools.zip_longest(columns, row[: len(columns)], fillvalue=""):
                    column.add(text)
    except (UnicodeDecodeError, csv.Error) as e:
        raise Failed(f"{path}: is no table: {e}") from e
    return "\n".join([f"{path}: {count} rows, {len(columns)} columns", *(c.line() for c in columns)])


class Tools(tool_pb2_grpc.ToolsServicer):
    def __init__(self, version):
        self._version = version
        self._numbers = itertools.count(1)
        self._roots = {}  # by session

    def Info(self, request, context):
        tool = pb.Tool(
            name="summarize_table",
            description="Say how many rows a CSV file has, and what is in each of its columns.",
            parameters=json.dumps(PARAMETERS).encode(),
            **{"class": "read"},
        )
        if self._version >= 2:
            tool.roles.path = "path"
            tool.roles.brief.append("path")
        return pb.InfoResponse(name="tables", contract=self._version, tools=[tool])

    def Open(self, request, context):
        session = next(self._numbers)
        self._roots[session] = request.root
        return pb.OpenResponse(session=session)

    def Close(self, request, context):
        self._roots.pop(request.session, None)
        return pb.CloseResponse()

    def Call(self, requests, context):
        start = next(requests).start
        arguments = json.loads(b"".join(part.arguments for part in requests) or b"{}")
        root = self._roots.get(start.session)
        if root is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"there is no session {start.session}")
        try:
            text, failed = summarize(root, arguments, context.is_active), False
        except (Failed, OSError) as e:
            text, failed = str(e), True
        data = text.encode()
        for i in range(0, len(data), PART):
            yield pb.CallResponse(text=data[i : i + PART])
        yield pb.CallResponse(end=pb.End(is_error=failed))


pooled_plugin.serve(
    "the tools tables: summarize_table",
    versions=[1, 2],
    max_message=512 << 10,
    register=lambda server, version: tool_pb2_grpc.add_ToolsServicer_to_server(Tools(version), server),
)
