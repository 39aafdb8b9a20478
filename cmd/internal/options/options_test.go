package options

import (
	"errors"
	"reflect"
	"testing"

	"github.com/spf13/pflag"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
)

func TestFlags(t *testing.T) {
	m, o := DefaultModel(), DefaultSampling()
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	m.Add(fl)
	AddSampling(fl, &o)
	if err := fl.Parse(nil); err != nil || m != DefaultModel() || !reflect.DeepEqual(o, DefaultSampling()) {
		t.Errorf("without flags: got %+v, %+v, %v", m, o, err)
	}
	err := fl.Parse([]string{"-m", "x", "--backend", "cpu", "-c", "64", "--exact", "-n", "5", "--temp", "0", "--stop", "a", "--stop", "b"})
	wantModel := Model{Ref: "x", Want: hub.Want{Backend: "cpu"}, Context: 64, Exact: true}
	want := DefaultSampling()
	want.MaxTokens, want.Temperature, want.Stop = 5, 0, []string{"a", "b"}
	if err != nil || m != wantModel || !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v, %+v, %v", m, o, err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*Model)
		says   string
	}{
		{func(*Model) {}, ""},
		{func(m *Model) { m.Want.Backend = "cuda" }, `--backend is "cuda", want cpu, webgpu or auto`},
		{func(m *Model) { m.Want.Threads = -1 }, "--threads is -1, want 0 or more"},
		{func(m *Model) { m.Ref = "" }, "--model is empty; name a model, such as nano"},
		{func(m *Model) { m.Context = -1 }, "--context is -1, want 0 or more"},
	} {
		m := DefaultModel()
		c.change(&m)
		err := m.Check()
		if c.says == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || err.Error() != c.says || console.Code(err) != console.ExitUsage {
			t.Errorf("got %v, want %s", err, c.says)
		}
	}
}

// TestFlagError knows a flag for each option that has one.
func TestFlagError(t *testing.T) {
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	o := DefaultSampling()
	AddSampling(fl, &o)
	for option, flag := range flags {
		if fl.Lookup(flag[2:]) == nil && option != "Logprobs" { // which is run's own
			t.Errorf("%s: there is no flag %s", option, flag)
		}
	}
	err := FlagError(&generate.OptionError{Option: "TopP", Value: 2, Reason: "must be less"})
	if console.Code(err) != console.ExitUsage || err.Error() != "--top-p is 2; it must be less" {
		t.Errorf("got %v", err)
	}
	other := errors.New("other")
	if got := FlagError(other); !errors.Is(got, other) {
		t.Errorf("got %v", got)
	}
	if FlagError(nil) != nil {
		t.Error("nothing is an error")
	}
}
