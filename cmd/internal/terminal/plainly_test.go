package terminal

import "testing"

func TestPlainly(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text\n\tof ASCII", "plain text\n\tof ASCII"},
		{"Grüße, 你好, привет, γειά σου, שלום", "Grüße, 你好, привет, γειά σου, שלום"},
		{"❤️ and 👨\u200d👩\u200d👧 and 👍🏽", "❤️ and 👨\u200d👩\u200d👧 and 👍🏽"},
		{"p\u0430ypal.com", `p\u{430}ypal.com`},
		{"αdmin", `\u{3b1}dmin`},
		{"rm\u200b -rf", `rm\u{200b} -rf`},
		{"a\u00a0b\u2028c", `a\u{a0}b\u{2028}c`},
		{"if (is\u3164) x", `if (is\u{3164}) x`},
		{"/*\u202e } if (admin) begin\u2066*/", `/*\u{202e} } if (admin) begin\u{2066}*/`},
		{"tag\U000E0041s", `tag\u{e0041}s`},
		{"ｓudo", `\u{ff53}udo`},
		{"\x1b[2J\x07", `\u{1b}[2J\u{7}`},
		{"a\u2065b\U000e0080c\U000e01f5\ufff0", `a\u{2065}b\u{e0080}c\u{e01f5}\u{fff0}`},
		{"a\U0001d159b\U00016fe4", `a\u{1d159}b\u{16fe4}`},
		{"if(env\u01c3=PROD)\u037e http\u2236//x eva\u217c eva\u2d4f", `if(env\u{1c3}=PROD)\u{37e} http\u{2236}//x eva\u{217c} eva\u{2d4f}`},
		{"\ue000x", `\u{e000}x`},
		{"a\ufe0fb", `a\u{fe0f}b`},
		{"bad\xff", "bad\uFFFD"},
	} {
		if got := Plainly(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}
