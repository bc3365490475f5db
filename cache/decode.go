package cache

import (
	"time"

	"github.com/ufbuild/ufbuild/cache/jsonline"
)

// decoder reads the JSON of a record.
type decoder struct{ jsonline.Reader }

// decodeFast reads a record as Encode writes it, ten times as fast as encoding/json, which matters since a build of 10,000
// nodes decodes 40,000. It reports false for anything unusual, spaces and unknown fields included, and then means nothing: the
// caller asks encoding/json. Where it reports true, encoding/json reads the same.
func decodeFast(b []byte) (Record, bool) {
	d := decoder{jsonline.Read(b)}
	var r Record
	d.Object(func(name []byte) {
		switch string(name) {
		case "key":
			d.Text(&r.Key)
		case "kind":
			r.Kind = d.String()
		case "n":
			r.Ordinal = int(d.Int())
		case "at":
			d.Time(&r.At)
		case "start":
			r.Start = once(&d, r.Start, d.start)
		case "placed":
			r.Placed = once(&d, r.Placed, d.placed)
		case "captured":
			r.Captured = once(&d, r.Captured, d.captured)
		case "end":
			r.End = once(&d, r.End, d.end)
		case "verdict":
			r.Verdict = once(&d, r.Verdict, d.verdict)
		case "discard":
			r.Discard = once(&d, r.Discard, d.discard)
		default:
			d.Refuse(true)
		}
	})
	return r, d.Whole()
}

// once decodes into a new T. A name that comes twice is odd: encoding/json would merge.
func once[T any](d *decoder, have *T, fill func(*T)) *T {
	d.Refuse(have != nil)
	v := new(T)
	fill(v)
	return v
}

func (d *decoder) start(s *Start) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "address":
			s.Address = d.String()
		case "campaign":
			s.Campaign = d.String()
		case "build":
			s.Build = d.String()
		case "manifest":
			d.Text(&s.Manifest)
		case "prompt":
			d.Text(&s.Prompt)
		case "reason":
			s.Reason = d.String()
		case "feedback":
			d.Text(&s.Feedback)
		case "rung":
			s.Rung = d.String()
		case "agent":
			d.agent(&s.Agent)
		case "owner":
			d.owner(&s.Owner)
		case "workspace":
			s.Workspace = d.String()
		case "from":
			s.From = once(d, s.From, d.from)
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) from(f *From) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "remote":
			f.Remote = d.String()
		case "producer":
			f.Producer = d.String()
		case "origin":
			f.Origin = d.String()
		case "signer":
			f.Signer = d.String()
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) placed(p *Placed) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "remote":
			p.Remote = d.String()
		case "action":
			p.Action = d.String()
		case "handle":
			p.Handle = d.String()
		case "at":
			p.At = d.String()
		case "turn":
			p.Turn = int(d.Int())
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) agent(a *Agent) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "adapter":
			a.Adapter = d.String()
		case "model":
			a.Model = d.String()
		case "pool":
			a.Pool = d.String()
		case "version":
			a.Version = d.String()
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) owner(o *Owner) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "pid":
			o.PID = int(d.Int())
		case "boot_id":
			o.BootID = d.String()
		case "start_time":
			n := d.Int()
			d.Refuse(n < 0)
			o.StartTime = uint64(n)
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) captured(c *Captured) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "exit":
			c.Exit = int(d.Int())
		case "signal":
			c.Signal = d.String()
		case "stopped_by":
			c.StoppedBy = d.String()
		case "outputs":
			c.Outputs = d.outputs(c.Outputs)
		case "leftovers":
			d.Text(&c.Leftovers)
		case "leftovers_truncated":
			c.LeftoversTruncated = d.Bool()
		case "given":
			d.Text(&c.Given)
		case "log":
			d.Text(&c.Log)
		case "log_damage":
			c.LogDamage = d.String()
		case "usage":
			d.usage(&c.Usage)
		case "duration":
			c.Duration = time.Duration(d.Int())
		case "problems":
			c.Problems = d.Strings(c.Problems)
		case "kept":
			c.Kept = d.outputs(c.Kept)
		case "sandbox":
			c.Sandbox = d.String()
		case "enforced":
			c.Enforced = d.Strings(c.Enforced)
		case "where":
			c.Where = d.String()
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) outputs(have []Output) []Output {
	d.Refuse(have != nil)
	return ReadOutputs(&d.Reader)
}

// ReadOutputs reads the value of a field that SpellOutputs wrote.
func ReadOutputs(d *jsonline.Reader) []Output {
	out := []Output{}
	d.Array(func() { out = append(out, readOutput(d)) })
	return out
}

func readOutput(d *jsonline.Reader) (o Output) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "name":
			o.Name = d.String()
		case "exists":
			o.Exists = d.Bool()
		case "tree":
			o.Tree = d.Bool()
		case "digest":
			d.Text(&o.Digest)
		case "mode":
			n := d.Int()
			d.Refuse(n != int64(uint32(n)))
			o.Mode = uint32(n)
		default:
			d.Refuse(true)
		}
	})
	return o
}

func (d *decoder) usage(u *Usage) {
	number := func(to **int64) {
		n := d.Int()
		*to = &n
	}
	d.Object(func(name []byte) {
		switch string(name) {
		case "input_tokens":
			number(&u.InputTokens)
		case "cached_tokens":
			number(&u.CachedTokens)
		case "output_tokens":
			number(&u.OutputTokens)
		case "cost_usd":
			f := d.Float()
			u.CostUSD = &f
		case "model":
			u.Model = d.String()
		case "session":
			u.Session = d.String()
		case "at_least":
			u.AtLeast = d.Bool()
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) end(e *End) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "outcome":
			e.Outcome = Outcome(d.String())
		case "message":
			e.Message = d.String()
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) verdict(v *Verdict) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "key":
			d.Text(&v.Key)
		case "pass":
			v.Pass = d.Bool()
		case "inconclusive":
			v.Inconclusive = d.Bool()
		case "messages":
			v.Messages = d.Strings(v.Messages)
		case "warnings":
			v.Warnings = d.Strings(v.Warnings)
		case "round":
			v.Round = int(d.Int())
		default:
			d.Refuse(true)
		}
	})
}

func (d *decoder) discard(x *Discard) {
	d.Object(func(name []byte) {
		switch string(name) {
		case "id":
			x.ID = d.String()
		case "who":
			x.Who = d.String()
		case "why":
			x.Why = d.String()
		case "campaign":
			x.Campaign = d.String()
		case "when":
			d.Time(&x.When)
		default:
			d.Refuse(true)
		}
	})
}
