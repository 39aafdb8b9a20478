"""A model family in Python: IBM's Granite 3 language models, GGUF architecture granite.

Granite is Llama with four multipliers: of the embedding, of what each half of a layer adds, of the attention scores, and a
divisor of the logits.

Source: the keys and the order are those of llama.cpp, which writes and runs these files.
"""

import math

import model_pb2 as pb
import model_pb2_grpc
from plan import MAX_CONTEXT, MAX_LAYERS, MAX_WIDTH, Builder, Ops, Reader, Refused

import pooled_plugin

NAME, ARCHITECTURES, CONTRACT = "granite", ["granite"], 1

# Keys that change the arithmetic and that this family does not compute.
FOREIGN = [
    "attention.sliding_window", "attention.sliding_window_pattern", "attention.clamp_kqv", "attention.max_alibi_bias",
    "attention.temperature_length", "attention.temperature_scale", "attn_logit_softcapping", "final_logit_softcapping",
    "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear", "expert_count", "use_parallel_residual",
    "nextn_predict_layers", "pooling_type",
]  # fmt: skip


def plan(metadata):
    """Returns the plan of a file, or raises Refused."""
    r = Reader(metadata)
    if r.architecture not in ARCHITECTURES:
        raise Refused("general.architecture", f"is {r.architecture!r}", unsupported=True)
    layers = r.integer("block_count", 1, MAX_LAYERS)
    hidden = r.integer("embedding_length", 1, MAX_WIDTH)
    feed_forward = r.integer("feed_forward_length", 1, MAX_WIDTH)
    context = r.integer("context_length", 1, MAX_CONTEXT)
    eps = r.number("attention.layer_norm_rms_epsilon", 0, 1)
    heads = r.integer("attention.head_count", 1, hidden)
    kv_heads = r.integer("attention.head_count_kv", 1, heads, absent=heads)
    width = r.integer("attention.key_length", 1, MAX_WIDTH, absent=max(1, hidden // heads))
    r.integer("attention.value_length", width, width, absent=width)
    rope = pb.Rope(
        dims=r.integer("rope.dimension_count", 2, width, absent=width),
        base=r.number("rope.freq_base", 1, 1e38, absent=10000),
        freq_scale=1,
        interleaved=True,  # converters reorder the rows of q and k so that neighbours turn together
    )
    embedding_scale = r.number("embedding_scale", 1e-6, 1e6, absent=1)
    residual_scale = r.number("residual_scale", 1e-6, 1e6, absent=1)
    attention_scale = r.number("attention.scale", 0, 1e6, absent=0) or 1 / math.sqrt(width)
    logit_divisor = r.number("logit_scale", 1e-6, 1e6, absent=1)
    r.refuse(FOREIGN)
    if not r.truth("rope.scaling.finetuned", absent=True):
        raise Refused("granite.rope.scaling.finetuned", "is false, which means no rotation", unsupported=True)
    vocab = r.rows("token_embd.weight", hidden)

    b = Builder(family=NAME, architecture=r.architecture, hidden=hidden, vocab=vocab, context=context)
    Ops(b, b.plan.embed).embed(0, "token_embd.weight", vocab, hidden, embedding_scale)
    for i in range(layers):
        layer = b.plan.layers.add()
        layer.kv.heads, layer.kv.key_dim, layer.kv.value_dim = kv_heads, width, width
        o, blk, x = Ops(b, layer.block), f"blk.{i}.", 0
        h = o.rms_norm(x, blk + "attn_norm.weight", hidden, eps)
        q = o.linear(h, blk + "attn_q.weight", heads * width, hidden)
        k = o.linear(h, blk + "attn_k.weight", kv_heads * width, hidden)
        v = o.linear(h, blk + "attn_v.weight", kv_heads * width, hidden)
        q = o.rope(q, heads, rope)
        k = o.rope(k, kv_heads, rope)
        h = o.attention(q, k, v, heads, kv_heads, attention_scale)
        h = o.linear(h, blk + "attn_output.weight", hidden, heads * width)
        x = o.add(x, o.scale(h, residual_scale))

        h = o.rms_norm(x, blk + "ffn_norm.weight", hidden, eps)
        gate = o.linear(h, blk + "ffn_gate.weight", feed_forward, hidden)
        up = o.linear(h, blk + "ffn_up.weight", feed_forward, hidden)
        h = o.linear(o.swiglu(gate, up), blk + "ffn_down.weight", hidden, feed_forward)
        o.add(x, o.scale(h, residual_scale))
    o = Ops(b, b.plan.head)
    x = o.rms_norm(0, "output_norm.weight", hidden, eps)
    x = o.linear(x, "output.weight" if "output.weight" in r.tensors else "token_embd.weight", vocab, hidden)
    o.scale(x, 1 / logit_divisor)
    return b.finish(r)


class Family(model_pb2_grpc.FamilyServicer):
    def Info(self, request, context):
        return pb.InfoResponse(name=NAME, architectures=ARCHITECTURES, contract=CONTRACT)

    def Plan(self, request, context):
        try:
            return pb.PlanResponse(plan=plan(request.metadata))
        except Refused as e:
            return pb.PlanResponse(refusal=e.refusal)


pooled_plugin.serve(
    "the model family granite",
    versions=[1],
    max_message=2 << 20,
    register=lambda server, version: model_pb2_grpc.add_FamilyServicer_to_server(Family(), server),
)
