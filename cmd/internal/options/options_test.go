package options

import (
	"errors"
	"math"
	"reflect"
	"strings"
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

// TestEdges gives the flags of sampling the numbers at their edges: each has a meaning that is told, or is refused by name.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		args string
		want func(*generate.Options)
		says string
	}{
		{args: "--top-p=0", want: func(o *generate.Options) { o.TopP = math.SmallestNonzeroFloat64 }},
		{args: "--top-p=-0", want: func(o *generate.Options) { o.TopP = math.SmallestNonzeroFloat64 }},
		{args: "--top-p=1", want: func(o *generate.Options) { o.TopP = 1 }},
		{args: "--top-p=1.5", says: "--top-p is 1.5; it must be between 0 and 1"},
		{args: "--top-p=-1", says: "--top-p is -1; it must be between 0 and 1"},
		{args: "--top-p=nan", says: "--top-p is NaN; it must be between 0 and 1"},
		{args: "--top-p=inf", says: "--top-p is +Inf; it must be between 0 and 1"},
		{args: "--top-p=much", says: `invalid argument "much" for "--top-p" flag`},
		{args: "--top-k=0", want: func(o *generate.Options) { o.TopK = 0 }},
		{args: "--top-k=1", want: func(o *generate.Options) { o.TopK = 1 }},
		{args: "--top-k=9223372036854775807", want: func(o *generate.Options) { o.TopK = math.MaxInt }},
		{args: "--top-k=-1", says: "--top-k is -1; it must not be negative"},
		{args: "--top-k=9223372036854775808", says: `for "--top-k" flag`},
		{args: "--min-p=0", want: func(o *generate.Options) { o.MinP = 0 }},
		{args: "--min-p=1", want: func(o *generate.Options) { o.MinP = 1 }},
		{args: "--min-p=2", says: "--min-p is 2; it must be between 0 and 1"},
		{args: "--min-p=nan", says: "--min-p is NaN; it must be between 0 and 1"},
		{args: "--temp=0", want: func(o *generate.Options) { o.Temperature = 0 }},
		{args: "--temp=-1", says: "--temp is -1; it must be between 0 and a million"},
		{args: "--temp=-inf", says: "--temp is -Inf; it must be between 0 and a million"},
		{args: "--temp=inf", says: "--temp is +Inf; it must be between 0 and a million"},
		{args: "--temp=nan", says: "--temp is NaN; it must be between 0 and a million"},
		{args: "--temp=1e400", says: `for "--temp" flag`},
		{args: "--repeat-penalty=0", want: func(o *generate.Options) { o.RepeatPenalty = 0 }},
		{args: "--repeat-penalty=1", want: func(o *generate.Options) { o.RepeatPenalty = 1 }},
		{args: "--repeat-penalty=-1", says: "--repeat-penalty is -1; it must be 0 for none, or between 0.01 and 100"},
		{args: "--repeat-penalty=1e-9", says: "--repeat-penalty is 1e-09; it must be 0 for none, or between 0.01 and 100"},
		{args: "--repeat-penalty=nan", says: "--repeat-penalty is NaN; it must be 0 for none, or between 0.01 and 100"},
		{args: "--seed=18446744073709551615", want: func(o *generate.Options) { o.Seed = math.MaxUint64 }},
		{args: "--seed=-1", says: `for "--seed" flag`},
		{args: "-n=0", want: func(o *generate.Options) { o.MaxTokens = 0 }},
		{args: "-n=-1", says: "--max-tokens is -1; it must not be negative"},
		{args: "--stop=", says: `--stop is ""; it must be text that is not empty`},
	} {
		o, want := DefaultSampling(), DefaultSampling()
		fl := pflag.NewFlagSet("", pflag.ContinueOnError)
		AddSampling(fl, &o)
		err := fl.Parse([]string{c.args})
		if err == nil {
			err = CheckSampling(&o)
		}
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %v, want %s", c.args, err, c.says)
			}
			continue
		}
		c.want(&want)
		if err != nil || !reflect.DeepEqual(o, want) {
			t.Errorf("%s: got %+v, %v, want %+v", c.args, o, err, want)
		}
	}
	fl := pflag.NewFlagSet("", pflag.ContinueOnError)
	o := DefaultSampling()
	AddSampling(fl, &o)
	if f := fl.Lookup("top-p"); f.DefValue != "0.95" || f.Value.Set("0") != nil || f.Value.String() != "0" {
		t.Errorf("got %q and %q", f.DefValue, f.Value)
	}
}
