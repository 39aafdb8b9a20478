package model

import "testing"

// TestTable holds the table to what its readers rely on.
func TestTable(t *testing.T) {
	names := map[string]Kind{}
	for _, k := range Kinds() {
		f := k.Facts()
		if f.Name == "" || f.Inputs < 1 || f.infer == nil || f.Optional < 0 || f.Optional > len(f.Weights) {
			t.Errorf("kind %d: the entry %+v is not whole", k, f)
		}
		if other, ok := names[f.Name]; ok {
			t.Errorf("kinds %d and %d are both called %s", other, k, f.Name)
		}
		names[f.Name] = k
		for i, r := range f.Weights {
			if r < Vector || r > Experts {
				t.Errorf("%s: weight %d has no role", f.Name, i)
			}
		}
	}
	for _, k := range []Kind{0, kindEnd, 255} {
		if k.Known() {
			t.Errorf("%v is known", k)
		}
	}
}
