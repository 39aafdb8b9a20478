package assembly

import (
	"encoding/json"
	"testing"
)

// TestToolDeclarations bounds what the prompt of every model carries: Qwen's tokenizer makes 552 tokens of 2,491 bytes, and
// the system prompt with all tools must stay under 1,300.
func TestToolDeclarations(t *testing.T) {
	total, seen := 0, map[string]bool{}
	for _, s := range builtinTools {
		info := s.Info()
		if err := info.Check(); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		for _, spec := range info.Tools {
			if seen[spec.Name] {
				t.Errorf("two tools are called %s", spec.Name)
			}
			seen[spec.Name] = true
			b, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
				"name": spec.Name, "description": spec.Description, "parameters": spec.Parameters,
			}})
			if err != nil {
				t.Fatal(err)
			}
			total += len(b) + 1
		}
	}
	prompt := 0
	for _, s := range builtinTools {
		for _, line := range s.Info().Prompt {
			prompt += len(line) + 3
		}
	}
	if prompt > 600 {
		t.Errorf("the lines for the prompt take %d bytes, want at most 600", prompt)
	}
	if len(seen) != 11 || total > 2800 {
		t.Errorf("%d tools take %d bytes, want 11 in at most 2,800", len(seen), total)
	}
}
