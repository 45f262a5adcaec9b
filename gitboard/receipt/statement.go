package receipt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// The types of statements and predicates (in-toto attestation framework).
const (
	statementType  = "https://in-toto.io/Statement/v1"
	provenanceType = "https://github.com/git-liza/git-liza/attestation/provenance/v0.1"
	testResultType = "https://in-toto.io/attestation/test-result/v0.1"
)

// The types of attestations, as options and operations name them.
const (
	Provenance = "provenance"
	TestResult = "test-result"
)

// statement is an in-toto statement.
type statement struct {
	Type          string          `json:"_type"`
	Subject       []subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

type subject struct {
	Digest      map[string]string   `json:"digest"`
	Annotations map[string][]string `json:"annotations,omitempty"`
}

type digest map[string]string

type digested struct {
	Name   string `json:"name,omitempty"`
	Digest digest `json:"digest"`
}

// provenance is the result of the replay of a range.
type provenance struct {
	Repo  string `json:"repo,omitempty"`
	Range struct {
		Base plumbing.OID `json:"base"`
		Head plumbing.OID `json:"head"`
	} `json:"range"`
	Board    Board            `json:"board"`
	Counts   Counts           `json:"counts"`
	Moves    []attestedMove   `json:"tasks"`
	Policy   map[string]gitID `json:"policy"`
	Controls []control        `json:"controls"`
}

type gitID struct {
	Blob plumbing.OID `json:"gitBlob"`
}

// attestedMove is a task's move, or a human's landing, in the form of the predicate.
type attestedMove struct {
	ID         string       `json:"id,omitempty"`
	Planned    string       `json:"plannedBy,omitempty"`
	Finalized  string       `json:"finalizedBy,omitempty"`
	WrittenBy  *Who         `json:"writtenBy,omitempty"`
	Submission plumbing.OID `json:"submission,omitempty"`
	Approvals  []Approval   `json:"approvals"`
	Merge      struct {
		By     string       `json:"by"`
		Op     plumbing.OID `json:"op"`
		Before plumbing.OID `json:"before"`
		Commit plumbing.OID `json:"commit"`
		Type   string       `json:"type"`
	} `json:"merge"`
	Test *attestedTest `json:"test,omitempty"`
}

type attestedTest struct {
	Command  string `json:"command"`
	Evidence string `json:"evidence"`
}

// control is a rule that held without a break since an operation (SLSA source track).
type control struct {
	Name  string       `json:"name"`
	Since plumbing.OID `json:"since"`
}

// Statement is the provenance of a range that passed, in canonical JSON (RFC 8785). It depends on
// the range, the board and repo alone: all verifiers make the same bytes.
func (r *Result) Statement(repo string, tree plumbing.OID) ([]byte, error) {
	p := provenance{Repo: repo, Board: r.Board, Counts: r.Counts, Moves: []attestedMove{}, Policy: map[string]gitID{}, Controls: []control{}}
	p.Range.Base, p.Range.Head = r.Base, r.Head
	for _, m := range r.Moves {
		a := attestedMove{ID: m.Task, Planned: m.Planned, Finalized: m.Finalized, Submission: m.Submission, Approvals: m.Approvals}
		if m.WrittenBy.ID != "" {
			a.WrittenBy = &m.WrittenBy
		}
		a.Merge.By, a.Merge.Op, a.Merge.Before, a.Merge.Commit, a.Merge.Type = m.By.ID, m.Op, m.Before, m.Commit, m.Type
		if m.Test != "" {
			a.Test = &attestedTest{m.Test, "attested"}
		}
		p.Moves = append(p.Moves, a)
	}
	for name, blob := range map[string]plumbing.OID{"config": r.Config, "team": r.Team} {
		if blob != "" {
			p.Policy[name] = gitID{blob}
		}
	}
	for _, c := range []control{{"LIZA_SIGNED", r.SignedSince}, {"LIZA_TESTED", r.TestedSince}} {
		if c.Since != "" {
			p.Controls = append(p.Controls, c)
		}
	}
	return r.state(provenanceType, tree, p)
}

// state encodes a statement about the head.
func (r *Result) state(kind string, tree plumbing.OID, predicate any) ([]byte, error) {
	inner, err := json.Marshal(predicate)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(statement{statementType, []subject{{
		map[string]string{"gitCommit": string(r.Head), "gitTree": string(tree)},
		map[string][]string{"sourceRefs": {plumbing.BranchRef(r.Integration)}},
	}}, kind, inner})
	if err != nil {
		return nil, err
	}
	return canonical(data)
}

// TestRun is a repeated test of the head of a range.
type TestRun struct {
	Passed      bool
	Command     string // as the board's merge recorded it
	Environment string // SHA-256 of a description of the machine
	Log         string // SHA-256 of the output
}

// testResult is the predicate of a test run, with the board that asked for it.
type testResult struct {
	Result        string     `json:"result"`
	Configuration []digested `json:"configuration"`
	Board         Board      `json:"board"`
	Command       string     `json:"command"`
}

// The results of tests.
const (
	passed = "PASSED"
	failed = "FAILED"
)

// TestStatement is the result of a repeated test, in canonical JSON.
func (r *Result) TestStatement(tree plumbing.OID, t TestRun) ([]byte, error) {
	p := testResult{Result: failed, Board: r.Board, Command: t.Command, Configuration: []digested{
		{"command", digest{"sha256": SHA256([]byte(t.Command))}},
		{"config", digest{"gitBlob": string(r.Config)}},
		{"environment", digest{"sha256": t.Environment}},
		{"log", digest{"sha256": t.Log}},
	}}
	if t.Passed {
		p.Result = passed
	}
	return r.state(testResultType, tree, p)
}

// RepoURI is a remote's address as statements name it, without credentials.
func RepoURI(address string) string {
	switch scheme, rest, is := strings.Cut(address, "://"); {
	case address == "":
		return ""
	case is && strings.HasPrefix(scheme, "git+"):
		return address
	case is:
		host, path, _ := strings.Cut(rest, "/")
		return fmt.Sprintf("git+%s://%s/%s", scheme, host[strings.LastIndexByte(host, '@')+1:], path)
	}
	if host, path, is := strings.Cut(address, ":"); is && !strings.Contains(host, "/") { // the short form of ssh
		return fmt.Sprintf("git+ssh://%s/%s", host[strings.LastIndexByte(host, '@')+1:], strings.TrimPrefix(path, "/"))
	}
	return "git+file://" + address
}
