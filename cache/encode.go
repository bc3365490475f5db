package cache

import "github.com/ufbuild/ufbuild/cache/jsonline"

// appendFast appends a record to b as encoding/json spells it; false where that has to be asked.
func appendFast(b []byte, r *Record) ([]byte, bool) {
	l := jsonline.Behind(b)
	l.Open("")
	jsonline.Text(&l, "key", r.Key)
	l.String("kind", r.Kind)
	l.Int("n", int64(r.Ordinal))
	jsonline.TextIf(&l, "at", r.At)
	if r.Start != nil {
		r.Start.spell(&l)
	}
	if p := r.Placed; p != nil {
		l.Open("placed")
		l.String("remote", p.Remote)
		l.StringIf("action", p.Action)
		l.StringIf("handle", p.Handle)
		l.StringIf("at", p.At)
		l.IntIf("turn", int64(p.Turn))
		l.Close()
	}
	if r.Captured != nil {
		r.Captured.spell(&l)
	}
	if r.End != nil {
		l.Open("end")
		l.String("outcome", string(r.End.Outcome))
		l.StringIf("message", r.End.Message)
		l.Close()
	}
	if v := r.Verdict; v != nil {
		l.Open("verdict")
		jsonline.Text(&l, "key", v.Key)
		l.TrueIf("pass", v.Pass)
		l.TrueIf("inconclusive", v.Inconclusive)
		l.StringsIf("messages", v.Messages)
		l.StringsIf("warnings", v.Warnings)
		l.IntIf("round", int64(v.Round))
		l.Close()
	}
	if d := r.Discard; d != nil {
		l.Open("discard")
		l.String("id", d.ID)
		l.StringIf("who", d.Who)
		l.StringIf("why", d.Why)
		l.StringIf("campaign", d.Campaign)
		jsonline.TextIf(&l, "when", d.When)
		l.Close()
	}
	l.Close()
	return l.Bytes()
}

func (s *Start) spell(l *jsonline.Line) {
	l.Open("start")
	l.StringIf("address", s.Address)
	l.StringIf("campaign", s.Campaign)
	l.StringIf("build", s.Build)
	jsonline.TextIf(l, "manifest", s.Manifest)
	jsonline.TextIf(l, "prompt", s.Prompt)
	l.StringIf("reason", s.Reason)
	jsonline.TextIf(l, "feedback", s.Feedback)
	l.StringIf("rung", s.Rung)
	if a := &s.Agent; *a != (Agent{}) {
		l.Open("agent")
		l.StringIf("adapter", a.Adapter)
		l.StringIf("model", a.Model)
		l.StringIf("pool", a.Pool)
		l.StringIf("version", a.Version)
		l.Close()
	}
	if o := &s.Owner; *o != (Owner{}) {
		l.Open("owner")
		l.IntIf("pid", int64(o.PID))
		l.StringIf("boot_id", o.BootID)
		l.UintIf("start_time", o.StartTime)
		l.Close()
	}
	l.StringIf("workspace", s.Workspace)
	if f := s.From; f != nil {
		l.Open("from")
		l.String("remote", f.Remote)
		l.StringIf("producer", f.Producer)
		l.String("origin", f.Origin)
		l.StringIf("signer", f.Signer)
		l.Close()
	}
	l.Close()
}

func (c *Captured) spell(l *jsonline.Line) {
	l.Open("captured")
	l.Int("exit", int64(c.Exit))
	l.StringIf("signal", c.Signal)
	l.StringIf("stopped_by", c.StoppedBy)
	if len(c.Outputs) > 0 {
		SpellOutputs(l, "outputs", c.Outputs)
	}
	jsonline.TextIf(l, "leftovers", c.Leftovers)
	l.TrueIf("leftovers_truncated", c.LeftoversTruncated)
	jsonline.TextIf(l, "given", c.Given)
	jsonline.TextIf(l, "log", c.Log)
	l.StringIf("log_damage", c.LogDamage)
	c.Usage.SpellIf(l, "usage")
	l.IntIf("duration", int64(c.Duration))
	l.StringIf("sandbox", c.Sandbox)
	l.StringsIf("enforced", c.Enforced)
	l.StringIf("where", c.Where)
	l.StringsIf("problems", c.Problems)
	if len(c.Kept) > 0 {
		SpellOutputs(l, "kept", c.Kept)
	}
	l.Close()
}

// SpellOutputs writes a field of outputs as encoding/json would, if outputs is not nil.
func SpellOutputs(l *jsonline.Line, name string, outputs []Output) {
	l.OpenArray(name)
	for i := range outputs {
		o := &outputs[i]
		l.Open("")
		l.String("name", o.Name)
		l.TrueIf("exists", o.Exists)
		l.TrueIf("tree", o.Tree)
		jsonline.TextIf(l, "digest", o.Digest)
		l.IntIf("mode", int64(o.Mode))
		l.Close()
	}
	l.CloseArray()
}

// SpellIf writes a field of usage, when something is known of it, as encoding/json would.
func (u *Usage) SpellIf(l *jsonline.Line, name string) {
	if *u == (Usage{}) {
		return
	}
	l.Open(name)
	for _, n := range []struct {
		name string
		n    *int64
	}{{"input_tokens", u.InputTokens}, {"cached_tokens", u.CachedTokens}, {"output_tokens", u.OutputTokens}} {
		if n.n != nil {
			l.Int(n.name, *n.n)
		}
	}
	if u.CostUSD != nil {
		l.Float("cost_usd", *u.CostUSD)
	}
	l.StringIf("model", u.Model)
	l.StringIf("session", u.Session)
	l.TrueIf("at_least", u.AtLeast)
	l.Close()
}
