package page
import ("testing";"github.com/pooled/pooled/sandbox/js";"testing/fstest";"context";"time")
func TestDbg(t *testing.T){
	eng, _ := js.NewRuntime(t.Context(), js.RuntimeOptions{CacheDir: t.TempDir()})
	defer eng.Close(context.Background())
	rt, err := NewRuntime(t.Context(), eng)
	if err!=nil {t.Fatal(err)}
	for range 3 {
	t0:=time.Now()
	s, _ := eng.NewSession(t.Context(), rt.image, js.SessionOptions{Limits: DefaultLimits()})
	t.Log("session", time.Since(t0)); t0=time.Now()
	s.Close()
	t.Log("close", time.Since(t0))
	}
	t0:=time.Now()
	p, err := rt.Open(t.Context(), fstest.MapFS{"index.html":{Data: []byte("<button id=b onclick=\"nope()\">x</button>\n\n<script>const P=performance; console.log(1)</script>")}}, Options{Console: func(l js.Line){t.Log(l, time.Since(t0))}})
	if err!=nil {t.Fatal(err)}
	t.Log("open", time.Since(t0)); t0=time.Now()
	p.Do(t.Context(), Action{Verb:"click",Target:"#b"})
	t.Log("do", time.Since(t0)); t0=time.Now()
	r:=p.Report()
	t.Log("report", time.Since(t0))
	t.Logf("%+v", r.Errors)
}
