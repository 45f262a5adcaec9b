package log

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// SignedBy returns the public key that signed a commit, or "" if the commit is not signed. It
// returns an error if the signature does not verify. Whether the key may sign is decided by
// board.CheckSigner.
func SignedBy(c plumbing.Commit) (public string, err error) {
	if c.GPGSig == "" {
		return "", nil
	}
	signature := c.GPGSig
	c.GPGSig = ""
	return sshsig.Verify(plumbing.EncodeCommit(c), signature)
}

// MustSign reports whether the operation's commit must be signed.
func (p *Prepared) MustSign() bool { return board.MustSign(p.on.State, p.After) }

// CheckKey refuses a key that may not sign the operation.
func (p *Prepared) CheckKey(key *sshsig.Signer) error {
	public := ""
	if key != nil {
		public = key.Public()
	}
	return board.CheckSigner(p.on.State, p.After, p.op.Actor, public)
}

// checkKey is CheckKey for a key that is used only if the commit must be signed.
func (p *Prepared) checkKey(key *sshsig.Signer) error {
	if !p.MustSign() {
		key = nil
	}
	return p.CheckKey(key)
}
