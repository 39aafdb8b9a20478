package model

import "strconv"

// Kind says what an operation computes. The reference implementation of every kind is in package gpu/ref.
//
// Below, x is the first input, n its number of rows (tokens) and w its width.
type Kind uint8

const (
	// Embed looks rows up: out[t] = Scale · W[token t]. It may only stand in [Plan.Embed], whose value 0 is the
	// token ids. Weights: W [vocab, out]. Attrs: Scale.
	Embed Kind = iota + 1
	// RMSNorm normalises each of the Groups groups of a row: x · weight / sqrt(mean(x²) + Eps).
	// Weights: weight [w/Groups], shared by the groups. Attrs: Eps, Groups.
	// Source: Zhang and Sennrich 2019, arXiv 1910.07467.
	RMSNorm
	// L2Norm scales each of the Groups groups of a row to length Scale: x · Scale / sqrt(sum(x²) + Eps).
	// Attrs: Eps, Groups, Scale.
	L2Norm
	// Linear is x · Wᵀ (+ bias). Weights: W [out, w], and optionally bias [out].
	Linear
	// Add is a + b, of equal width.
	Add
	// Mul is a · b by element, of equal width.
	Mul
	// Scale multiplies by Attrs.Scale.
	Scale
	// SiLU is x · sigmoid(x).
	SiLU
	// GELU is the tanh form, 0.5 x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))).
	GELU
	// SwiGLU is SiLU(a) · b, of equal width. Source: Shazeer 2020, arXiv 2002.05202.
	SwiGLU
	// GeGLU is GELU(a) · b, of equal width. Source: as [SwiGLU].
	GeGLU
	// SigmoidGate is a · sigmoid(b), of equal width, or with one number b for a whole row.
	SigmoidGate
	// Slice takes the values [Offset, Offset+Length) of each of Groups equal groups of a row and joins them.
	// Attrs: Groups, Offset, Length.
	Slice
	// Rope turns each of Heads heads by its position. Weights: optionally factors [Rope.Dims/2].
	// Attrs: Heads, Rope. Source: Su et al. 2021, arXiv 2104.09864.
	Rope
	// Attention appends k and v to the layer's KV cache and attends causally.
	// In: q [n, Heads·KeyDim], k [n, KVHeads·KeyDim], v [n, KVHeads·ValueDim]; out [n, Heads·ValueDim]. Query head h
	// reads KV head h/(Heads/KVHeads). Attrs: Heads, KVHeads, Scale (of the dot products), Window. State: KV.
	Attention
	// ShortConv is a causal convolution over time of each channel by itself, without activation:
	// out[t, c] = Σ_j W[c, j] · x[t − Taps + 1 + j, c], where rows before the batch come from the state.
	// Weights: W [channels, Taps]. State: Conv.
	ShortConv
	// GatedDelta is the gated delta rule, one state S [KeyDim, ValueDim] a value head; value head h reads key head
	// h mod Heads. With g = A[h] · softplus(a + dt[h]) and β = sigmoid(b), each token does
	// S ← exp(g)·S; u = β·(v − Sᵀk); S ← S + k uᵀ; out = Sᵀq.
	// In: q [n, Heads·KeyDim], k (same), v [n, KVHeads·ValueDim], a [n, KVHeads], b [n, KVHeads]; out like v.
	// Weights: A [KVHeads], dt [KVHeads]. Attrs: Heads (of keys), KVHeads (of values). State: Delta.
	// Source: Yang et al. 2024, arXiv 2412.06464.
	GatedDelta
	// Route chooses, of as many experts as x is wide, the Route.Used with the highest scores x. Out [n, 2·Used]: their numbers,
	// the highest score first and of equal ones the lower number first, and then their weights: softmax(x) over all experts,
	// divided by the sum of those that are chosen where Route.Renormalize, times Scale. Attrs: Route, Scale.
	// Source: Shazeer et al. 2017, arXiv 1701.06538; softmax before the choice as in Qwen Team 2025, arXiv 2505.09388.
	Route
	// ExpertLinear is [Linear] with the matrices of the experts that a [Route] has chosen for each row. In: x [n, w], the same
	// for all the chosen, or [n, Used·w], a part for each, in the order of the route; and the route. Weights: W [experts, out, w];
	// out [n, Used·out], in the order of the route.
	ExpertLinear
	// Combine is the sum of the parts of x [n, Used·w] times their weights, in the order of the route. In: x and the route; out [n, w].
	Combine
	// Concat joins each row of a with that of b. In: a [n, w], b [n, v]; out [n, w+v].
	Concat

	kindEnd
)

// Role says in what form an operation reads one of its weights.
type Role uint8

const (
	// Vector is a small tensor, read as float32.
	Vector Role = iota + 1
	// Matrix is [out, in] and multiplies columns; it stays in the type of the file where a backend can compute with it.
	Matrix
	// Table is [rows, width], of which single rows are looked up.
	Table
	// Experts is [experts, out, in]: a Matrix for each expert, of which few are read at a time.
	Experts
)

// StateKind says which member of [State] an operation reads and moves on.
type StateKind uint8

const (
	// Stateless kinds remember nothing.
	Stateless StateKind = iota
	// OfKV kinds append to a KV cache.
	OfKV
	// OfConv kinds keep the tail of their input.
	OfConv
	// OfDelta kinds keep the state of a delta rule.
	OfDelta
)

// Facts are what there is to know of a kind without computing it.
type Facts struct {
	Name string
	// Inputs is the number of values that it reads.
	Inputs int
	// Weights are the roles of its weights. The last Optional of them may be left out.
	Weights  []Role
	Optional int
	// State is what it remembers from pass to pass.
	State StateKind

	// infer returns the width of the result for a first input of width x, or why there is none.
	infer func(c *checker, op *Op, x int) (width int, reason string)
}

// table says what every kind is. A new kind is an entry here, its loop in gpu/ref and a case in each backend.
var table = [kindEnd]Facts{
	Embed:        {Name: "Embed", Inputs: 1, Weights: []Role{Table}, infer: (*checker).inferEmbed},
	RMSNorm:      {Name: "RMSNorm", Inputs: 1, Weights: []Role{Vector}, infer: (*checker).inferNorm},
	L2Norm:       {Name: "L2Norm", Inputs: 1, infer: (*checker).inferNorm},
	Linear:       {Name: "Linear", Inputs: 1, Weights: []Role{Matrix, Vector}, Optional: 1, infer: (*checker).inferLinear},
	Add:          {Name: "Add", Inputs: 2, infer: (*checker).inferSame},
	Mul:          {Name: "Mul", Inputs: 2, infer: (*checker).inferSame},
	Scale:        {Name: "Scale", Inputs: 1, infer: (*checker).inferSame},
	SiLU:         {Name: "SiLU", Inputs: 1, infer: (*checker).inferSame},
	GELU:         {Name: "GELU", Inputs: 1, infer: (*checker).inferSame},
	SwiGLU:       {Name: "SwiGLU", Inputs: 2, infer: (*checker).inferSame},
	GeGLU:        {Name: "GeGLU", Inputs: 2, infer: (*checker).inferSame},
	SigmoidGate:  {Name: "SigmoidGate", Inputs: 2, infer: (*checker).inferGate},
	Slice:        {Name: "Slice", Inputs: 1, infer: (*checker).inferSlice},
	Rope:         {Name: "Rope", Inputs: 1, Weights: []Role{Vector}, Optional: 1, infer: (*checker).inferRope},
	Attention:    {Name: "Attention", Inputs: 3, State: OfKV, infer: (*checker).inferAttention},
	ShortConv:    {Name: "ShortConv", Inputs: 1, Weights: []Role{Vector}, State: OfConv, infer: (*checker).inferConv},
	GatedDelta:   {Name: "GatedDelta", Inputs: 5, Weights: []Role{Vector, Vector}, State: OfDelta, infer: (*checker).inferDelta},
	Route:        {Name: "Route", Inputs: 1, infer: (*checker).inferRoute},
	ExpertLinear: {Name: "ExpertLinear", Inputs: 2, Weights: []Role{Experts}, infer: (*checker).inferExpertLinear},
	Combine:      {Name: "Combine", Inputs: 2, infer: (*checker).inferCombine},
	Concat:       {Name: "Concat", Inputs: 2, infer: (*checker).inferConcat},
}

// Known reports whether k is a kind of this version.
func (k Kind) Known() bool { return k > 0 && k < kindEnd }

// Facts returns what there is to know of a known kind; it panics for another.
func (k Kind) Facts() *Facts {
	if !k.Known() {
		panic("model: " + k.String() + " is no kind")
	}
	return &table[k]
}

// String returns the kind's name, or "Kind(n)" for an unknown one.
func (k Kind) String() string {
	if k.Known() {
		return table[k].Name
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Kinds returns every known kind, in order.
func Kinds() []Kind {
	ks := make([]Kind, 0, kindEnd-1)
	for k := Embed; k < kindEnd; k++ {
		ks = append(ks, k)
	}
	return ks
}
