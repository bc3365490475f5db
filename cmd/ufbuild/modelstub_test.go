package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelStub is a model server on loopback that speaks as much of three providers' protocols as their agents
// need: it has them run one shell command, then say that all is done. It counts what it says was used.
type modelStub struct {
	*httptest.Server

	mu       sync.Mutex
	status   int    // of every answer; 0 for good ones
	body     string // of an answer with a status
	calls    int    // good answers to the agent itself
	requests []string
	keys     map[string]bool // credentials that were sent
}

// What one call of the stub uses.
const (
	stubFresh     = 100 // input that no cache had
	stubCacheRead = 30
	stubWritten   = 20 // to the cache; anthropic alone
	stubOutput    = 25 // reasoning included
)

// stubCommand is what the model has the agent run.
const stubCommand = "echo '[1]' > list.json"

func newModelStub(t *testing.T) *modelStub {
	s := &modelStub{keys: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answer(s.anthropic))
	mux.HandleFunc("POST /v1/responses", s.answer(s.openai))
	mux.HandleFunc("POST /v1beta/models/", s.answer(s.google))
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// fails makes every further answer an error.
func (s *modelStub) fails(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body, s.calls = status, body, 0
}

type object = map[string]any

// answer reads a request and lets one protocol answer it: with the command until its result is in the
// request.
func (s *modelStub) answer(protocol func(w http.ResponseWriter, r *http.Request, body []byte, ran bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		for _, name := range []string{"X-Api-Key", "Authorization", "X-Goog-Api-Key"} {
			if v := r.Header.Get(name); v != "" {
				s.keys[strings.TrimPrefix(v, "Bearer ")] = true
			}
		}
		if s.status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(s.status)
			_, _ = io.WriteString(w, s.body)
			return
		}
		if strings.Contains(string(b), `"tools":[{`) { // else the agent asks for a title, which it accounts elsewhere
			s.calls++
		}
		w.Header().Set("Content-Type", "text/event-stream")
		protocol(w, r, b, s.ran(b))
	}
}

// ran reports whether the conversation holds the result of the command.
func (s *modelStub) ran(body []byte) bool {
	for _, mark := range []string{`"tool_result"`, `"function_call_output"`, `"functionResponse"`, `"function_response"`} {
		if strings.Contains(string(body), mark) {
			return true
		}
	}
	return false
}

func (s *modelStub) event(w io.Writer, name string, v object) {
	v["type"] = name
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: the stub's own words: " + err.Error())
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, b)
}

// anthropic speaks the messages protocol.
func (s *modelStub) anthropic(w http.ResponseWriter, _ *http.Request, body []byte, ran bool) {
	var asked struct {
		Model string
		Tools []struct{ Name string }
	}
	_ = json.Unmarshal(body, &asked)
	s.event(w, "message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%d", s.calls), "type": "message", "role": "assistant", "model": asked.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": stubFresh, "cache_creation_input_tokens": stubWritten, "cache_read_input_tokens": stubCacheRead, "output_tokens": 1},
	}})
	stop := "end_turn"
	if !ran && len(asked.Tools) > 0 {
		stop = "tool_use"
		name := "Bash"
		for _, t := range asked.Tools {
			if strings.EqualFold(t.Name, name) {
				name = t.Name
			}
		}
		args, _ := json.Marshal(object{"command": stubCommand, "description": "write the list"})
		s.event(w, "content_block_start", object{"index": 0, "content_block": object{"type": "tool_use", "id": "toolu_1", "name": name, "input": object{}}})
		s.event(w, "content_block_delta", object{"index": 0, "delta": object{"type": "input_json_delta", "partial_json": string(args)}})
	} else {
		s.event(w, "content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
		s.event(w, "content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": "All done."}})
	}
	s.event(w, "content_block_stop", object{"index": 0})
	s.event(w, "message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": stubOutput}})
	s.event(w, "message_stop", object{})
}

// openai speaks the responses protocol.
func (s *modelStub) openai(w http.ResponseWriter, _ *http.Request, _ []byte, ran bool) {
	id := fmt.Sprintf("resp_%d", s.calls)
	s.event(w, "response.created", object{"response": object{"id": id}})
	item := object{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{object{"type": "output_text", "text": "All done."}}}
	if !ran {
		args, _ := json.Marshal(object{"cmd": stubCommand})
		item = object{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command", "arguments": string(args)}
	}
	s.event(w, "response.output_item.done", object{"output_index": 0, "item": item})
	s.event(w, "response.completed", object{"response": object{"id": id, "usage": object{
		"input_tokens": stubFresh + stubCacheRead, "input_tokens_details": object{"cached_tokens": stubCacheRead},
		"output_tokens": stubOutput, "output_tokens_details": object{"reasoning_tokens": 5}, "total_tokens": stubFresh + stubCacheRead + stubOutput,
	}}})
}

// google speaks the streaming protocol of Gemini.
func (s *modelStub) google(w http.ResponseWriter, r *http.Request, _ []byte, ran bool) {
	part := object{"text": "All done."}
	if !ran {
		part = object{"functionCall": object{"name": "run_shell_command", "args": object{"command": stubCommand, "description": "write the list"}}}
	}
	b, err := json.Marshal(object{
		"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": stubFresh + stubCacheRead, "cachedContentTokenCount": stubCacheRead, "candidatesTokenCount": stubOutput, "totalTokenCount": stubFresh + stubCacheRead + stubOutput},
		"modelVersion":  "stub",
	})
	if err != nil {
		panic("BUG: the stub's own words: " + err.Error())
	}
	if strings.Contains(r.URL.Path, "stream") {
		fmt.Fprintf(w, "data: %s\r\n\r\n", b)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}
