"""Writes plans and reads metadata, as core/model does for families in Go."""

import model_pb2 as pb

# Bounds that core/model sets, too.
MAX_LAYERS, MAX_WIDTH, MAX_CONTEXT = 1 << 10, 1 << 20, 1 << 26


class Refused(Exception):
    """There is no plan. name is the key or the tensor to blame; unsupported says that the file is well formed."""

    def __init__(self, name, reason, unsupported=False):
        super().__init__(f"{name}: {reason}")
        self.refusal = pb.Refusal(name=name, reason=reason, unsupported=unsupported)


class Reader:
    """Reads the metadata of a file; keys are relative to the architecture."""

    def __init__(self, metadata):
        self.architecture = metadata.architecture
        self.tensors = {t.name: list(t.shape) for t in metadata.tensors}
        self._values = metadata.values

    def _value(self, key, kinds, absent):
        key = f"{self.architecture}.{key}"
        if key not in self._values:
            if absent is None:
                raise Refused(key, "is missing")
            return key, absent
        value = self._values[key]
        kind = value.WhichOneof("kind")
        if kind not in kinds:
            raise Refused(key, f"is {kind}, want {' or '.join(kinds)}")
        return key, getattr(value, kind)

    def integer(self, key, least, most, absent=None):
        """A whole number in [least, most]; without the key it is absent, or refused."""
        key, n = self._value(key, ["integer"], absent)
        if not least <= n <= most:
            raise Refused(key, f"is {n}, want {least} to {most}")
        return n

    def number(self, key, least, most, absent=None):
        """A number in [least, most], which NaN is not; without the key it is absent, or refused."""
        key, x = self._value(key, ["number", "integer"], absent)
        if not least <= x <= most:
            raise Refused(key, f"is {x}, want {least} to {most}")
        return float(x)

    def truth(self, key, absent):
        """A truth value; without the key it is absent."""
        return self._value(key, ["truth"], absent)[1]

    def rows(self, tensor, columns):
        """The number of rows of a matrix of the file."""
        shape = self.tensors.get(tensor)
        if shape is None or len(shape) != 2 or shape[0] < 1 or shape[1] != columns:
            raise Refused(tensor, f"has the shape {shape}, want a matrix of {columns} columns")
        return shape[0]

    def refuse(self, keys):
        """Refuses keys that ask for something that the family does not compute."""
        for key in keys:
            key = f"{self.architecture}.{key}"
            if key in self._values:
                value = self._values[key]
                kind = value.WhichOneof("kind")
                if kind is None or getattr(value, kind) not in (0, False, "", "none"):
                    raise Refused(key, "is not supported", unsupported=True)


class Builder:
    """Writes a plan top-down: tensors are named where they are used, and operations return the values that they make."""

    def __init__(self, **sizes):
        self.plan = pb.Plan(**sizes)
        self._index = {}

    def tensor(self, name, *shape):
        if name not in self._index:
            self._index[name] = len(self.plan.tensors)
            self.plan.tensors.add(name=name, shape=shape)
        return self._index[name]

    def finish(self, reader):
        """Returns the plan. The file must have every tensor of it, and no other one: nothing is left out in silence."""
        for tensor in self.plan.tensors:
            have, want = reader.tensors.get(tensor.name), list(tensor.shape)
            if have != want:
                raise Refused(tensor.name, f"has the shape {have}, want {want}" if have else "the file has no such tensor")
        for name in sorted(reader.tensors):
            if name not in self._index:
                raise Refused(name, "the family has no use for the tensor", unsupported=True)
        return self.plan


class Ops:
    """Appends operations to one block. Value 0 is the block's input."""

    def __init__(self, builder, block):
        self._builder, self._block = builder, block

    def _op(self, kind, inputs, weights=(), **numbers):
        self._block.ops.add(kind=kind, inputs=inputs, weights=weights, **numbers)
        self._block.out = len(self._block.ops)
        return self._block.out

    def embed(self, tokens, name, vocab, hidden, scale):
        return self._op(pb.KIND_EMBED, [tokens], [self._builder.tensor(name, vocab, hidden)], scale=scale)

    def rms_norm(self, x, name, size, eps):
        return self._op(pb.KIND_RMS_NORM, [x], [self._builder.tensor(name, size)], groups=1, eps=eps)

    def linear(self, x, name, outputs, inputs):
        """x · Wᵀ."""
        return self._op(pb.KIND_LINEAR, [x], [self._builder.tensor(name, outputs, inputs)])

    def add(self, x, y):
        return self._op(pb.KIND_ADD, [x, y])

    def scale(self, x, factor):
        """x · factor; a factor of 1 is no operation."""
        return x if factor == 1 else self._op(pb.KIND_SCALE, [x], scale=factor)

    def swiglu(self, gate, up):
        return self._op(pb.KIND_SWIGLU, [gate, up])

    def rope(self, x, heads, rope):
        return self._op(pb.KIND_ROPE, [x], heads=heads, rope=rope)

    def attention(self, q, k, v, heads, kv_heads, scale):
        return self._op(pb.KIND_ATTENTION, [q, k, v], heads=heads, kv_heads=kv_heads, scale=scale)
