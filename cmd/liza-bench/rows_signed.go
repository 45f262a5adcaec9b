package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// benchSigned measures what signatures cost: a note, and verify, against the same on a board that
// has none.
func benchSigned(l *lab) error {
	n := l.pick(20, 300, 2000)
	plain, err := l.noted("unsigned", n, nil, "")
	if err != nil {
		return err
	}
	key, file, err := l.key()
	if err != nil {
		return err
	}
	signed, err := l.noted("signed", n, key, file)
	if err != nil {
		return err
	}
	got, err := l.measure(l.rounds(), plain.noting("note"), signed.noting("signed note"))
	if err != nil {
		return err
	}
	l.row("note, signed (ed25519, key in a file)", got[1], got[0], "the same unsigned", 0, 0)
	got, err = l.measure(max(2, l.rounds()/3), plain.reading("verify"), signed.reading("verify"))
	if err != nil {
		return err
	}
	perCommit := 1 / float64(n)
	l.row(fmt.Sprintf("verify, a commit of %s signed notes", thousands(n)), got[1].times(perCommit), got[0].times(perCommit), "the same unsigned", 0, 0.5)
	l.remark("verify: %.0f signed commits/s over %s commits, unsigned %.0f", float64(n)/got[1].median()*1000, thousands(n), float64(n)/got[0].median()*1000)
	return nil
}

// key makes a key and its file.
func (l *lab) key() (*sshsig.Signer, string, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, "", err
	}
	block, err := ssh.MarshalPrivateKey(private, "bench")
	if err != nil {
		return nil, "", err
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, "", err
	}
	s, err := sshsig.NewSigner(signer, rand.Reader)
	if err != nil {
		return nil, "", err
	}
	file := filepath.Join(l.dir, "key")
	return s, file, os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
}

// noted makes a site whose board has so many notes, signed where there is a key.
func (l *lab) noted(name string, notes int, key *sshsig.Signer, file string) (*site, error) {
	s, err := l.project(name)
	if err != nil {
		return nil, err
	}
	for _, setting := range [][2]string{{"user.name", human.Name}, {"user.email", human.Email}} {
		if _, err := s.git("config", setting[0], setting[1]); err != nil {
			return nil, err
		}
	}
	args := []string{"init", "--unattended", "Measure"}
	if key != nil {
		args = append(args, "--sign", file)
	}
	if _, err := s.liza("", args...); err != nil {
		return nil, err
	}
	b, err := gitboard.Open(l.ctx, s.dir, gitboard.Options{Key: func(context.Context, board.Actor) (*sshsig.Signer, error) { return key, nil }})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	for i := range notes {
		note := &board.AddNote{Message: fmt.Sprintf("The %d. thing that somebody should know", i)}
		if _, err := b.Do(l.ctx, gitboard.Request{Actor: human}, gitboard.Just(note)); err != nil {
			return nil, err
		}
	}
	return s, s.settle()
}
