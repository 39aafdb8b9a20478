// Package generate turns prompt ids into a stream of text on an [engine.Session].
//
// A [Sequence] owns one session and knows the exact ids whose state the session holds. Each call of
// [Sequence.Generate] keeps the longest prefix that the new prompt shares with them, computes the rest of the prompt in
// batches and then decodes, one forward pass a token.
//
// # What ends an answer
//
// The finish reason is always the true one. An end-of-generation token, a stop id or a stop string gives [FinishStop];
// MaxTokens gives [FinishLength]; a full context gives [FinishContext]. The ids of a result are everything that was
// sampled, the token that ended the answer included, so that prompt + ids replays the conversation exactly. The text is
// their decoding without that last token and without a stop string and what follows it.
//
// # The order of the sampler
//
// Repetition, presence and frequency penalties → mask → top-k → top-p → min-p → temperature → draw. The filters see the
// distribution at temperature 1, as in llama.cpp: a high temperature flattens what is left, and never lets more in.
// At temperature 0 the largest logit wins, the lower id among equals, and no random number is drawn.
//
// Log probabilities are those of the model itself: before penalties, mask, filters and temperature.
//
// # State
//
// After every call, whatever its outcome, the ids held and the session's length agree: a pass that fails or is cancelled
// leaves the sequence where the session says it is, and the next call goes on from there. The last token of an answer
// has been sampled and not computed, so the session does not hold it; a prompt that contains it adds it.
package generate
