// Package sshsig signs and verifies as git does with gpg.format=ssh: the SSHSIG format of OpenSSH
// (PROTOCOL.sshsig), SHA-512, namespace "git" or, for attestations, "in-toto". It knows no board and no repository: which key may
// sign is a rule of package board.
//
// It may import nothing of ours.
package sshsig
