// Package model is the contract of a model family: what it reads of a file and the plan it makes of it.
//
// A family is a pure function from [Metadata] to [Plan], called once a load. A plan is plain data: the tensors, the
// state every layer keeps and the operations of the embedding, each layer and the head, as small lists in single
// static assignment form over the vocabulary of [Kind]. It crosses process boundaries, can be cut at any layer, and is
// untrusted: [Plan.Check] infers and checks every shape before anything is allocated.
//
// Everything a plan computes is a value of shape [nTokens, width], float32, row-major.
package model

import "context"

// ContractVersion is the version of this contract; a family states the one that it was written for.
const ContractVersion = 1

// Info says what a family is.
type Info struct {
	// Name is the family's name, such as "dense": lower-case letters, digits and dashes.
	Name string
	// Architectures lists the values of general.architecture that the family plans.
	Architectures []string
	// Contract is the [ContractVersion] that the family was written for.
	Contract int
}

// Family turns the metadata of a file into a plan.
type Family interface {
	// Info says what the family is; it never changes.
	Info() Info
	// Plan describes how to compute the model whose metadata is given. It must not keep md.
	//
	// Errors: [ErrUnsupported] when the file is of the family but asks for something it cannot compute, a
	// [*MetadataError] when a key or tensor is missing or of the wrong type or shape.
	Plan(ctx context.Context, md *Metadata) (*Plan, error)
}

// LayerRange is the half-open range of layers [Begin, End) that one session computes.
type LayerRange struct{ Begin, End int }

// Len returns the number of layers in r.
func (r LayerRange) Len() int { return r.End - r.Begin }

// Plan is a model as data.
type Plan struct {
	// Family and Architecture name what made the plan and of what.
	Family, Architecture string
	// Hidden is the width of the hidden state, Vocab the number of logits.
	Hidden, Vocab int
	// Context is the number of positions that the model was made for.
	Context int
	// Tensors lists every tensor the operations name, each once. Operations refer to them by index.
	Tensors []Tensor
	// Embed turns token ids into the hidden state that enters layer 0.
	Embed Block
	// Layers are the layers of the trunk, in order; each maps a hidden state to a hidden state.
	Layers []Layer
	// Head turns the hidden state that leaves the last layer into logits.
	Head Block
	// Draft guesses what comes after the next token; nil where the model has no such block.
	Draft *Draft
}

// Draft is a block that was trained to guess, from the trunk's hidden state of a token and the token after it, the token after
// that one. It can be chained: its own hidden state takes the place of the trunk's.
type Draft struct {
	// Layer gets [n, 2·Hidden], the embedding of a token, as [Plan.Embed] makes it, beside the hidden state of the token before, at the
	// token's position, and makes the hidden state [n, Hidden] that is handed on. Its state is a KV cache alone.
	Layer
	// From is the value of [Plan.Head] that is the hidden state of the trunk.
	From Value
	// Head turns the hidden state that is handed on into logits.
	Head Block
}

// Tensor is one weight tensor of the file.
type Tensor struct {
	// Name is its name in the file.
	Name string
	// Shape is its shape, row-major, outermost dimension first: a matrix is [out, in], those of experts are [experts, out, in].
	Shape []int
}

// Elements returns the number of values in the tensor.
func (t Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}

// Layer is one layer: its operations and the state they keep between calls.
type Layer struct {
	Block
	State State
}

// State sizes what a layer remembers. A nil member is absent; a layer uses each member at most once.
type State struct {
	KV    *KVState
	Conv  *ConvState
	Delta *DeltaState
}

// Recurrent reports whether the state is a running summary, which cannot be cut back to an earlier position.
func (s State) Recurrent() bool { return s.Conv != nil || s.Delta != nil }

// KVState is a key and value cache of one attention operation, kept as float16.
// Shapes: keys [context, Heads, KeyDim], values [context, Heads, ValueDim].
type KVState struct{ Heads, KeyDim, ValueDim int }

// ConvState is the tail of the input of a short convolution, kept as float32.
// Shapes: [Taps-1, Channels], oldest row first.
type ConvState struct{ Channels, Taps int }

// DeltaState is the state of a gated delta rule, kept as float32. Shapes: [Heads, KeyDim, ValueDim].
type DeltaState struct{ Heads, KeyDim, ValueDim int }

// Block is a list of operations. Value 0 is the block's input and operation i makes value i+1.
type Block struct {
	Ops []Op
	// Out is the value that leaves the block.
	Out Value
}

// Value is the number of a value within its block.
type Value int

// Op is one operation. Which fields count, and the shapes, is documented at each [Kind].
type Op struct {
	Kind Kind
	// In lists the values it reads, all made before it.
	In []Value
	// Weights lists the tensors it reads, as indices into [Plan.Tensors].
	Weights []int
	// Attrs holds its numbers; fields that the kind does not use are zero.
	Attrs Attrs
}

// Attrs are the numbers of an operation.
type Attrs struct {
	// Eps is added before a root is taken.
	Eps float64
	// Scale multiplies; what, is said at each kind.
	Scale float64
	// Groups is the number of equal groups that a row is split into.
	Groups int
	// Offset and Length say which part of each group is taken.
	Offset, Length int
	// Heads is the number of query heads, KVHeads that of key and value heads.
	Heads, KVHeads int
	// Window is the number of positions a token attends to, itself included; 0 means all before it.
	Window int
	// Rope holds the numbers of a rotary embedding.
	Rope RopeAttrs
	// Route says how experts are chosen.
	Route RouteAttrs
}

// RouteAttrs say how the experts of a token are chosen.
type RouteAttrs struct {
	// Used is the number of experts that a token goes to.
	Used int
	// Renormalize divides the weights of the chosen experts by their sum.
	Renormalize bool
}

// RopeAttrs are the numbers of a rotary position embedding.
type RopeAttrs struct {
	// Dims is how many values at the start of each head turn; the rest pass through.
	Dims int
	// Base is the base of the frequencies: pair i turns by position · FreqScale · Base^(−2i/Dims) / factor i.
	Base float64
	// FreqScale multiplies the position; 1 unless the file says that positions are interpolated.
	FreqScale float64
	// Interleaved pairs the values 2i and 2i+1; otherwise i pairs with i + Dims/2.
	Interleaved bool
}
