// Package js runs untrusted JavaScript: QuickJS inside WebAssembly inside this
// process, with nothing of the machine within reach.
//
// A program gets the language, a console, timers, URL, TextEncoder,
// structuredClone, crypto, a minimal Intl, and the modules of one virtual file tree.
// It gets no file system, network or environment, and no real clock or randomness
// unless a [Capabilities] field grants it. Time is virtual: it advances when
// the program waits, so an hour of setTimeout takes no time at all, and the same program
// prints the same output every time.
//
// Everything is capped by [Limits]. What exceeds a cap is stopped, said to be
// stopped ([Result].Stopped), and leaves nothing behind: each run starts from a
// copy of one memory image.
//
//	rt, err := js.NewRuntime(ctx, js.RuntimeOptions{CacheDir: dir})
//	defer rt.Close(ctx)
//	res, err := rt.Run(ctx, js.Program{Code: "6 * 7"}, js.Limits{}, js.Capabilities{})
//	// res.Value.Display == "42"
package js
