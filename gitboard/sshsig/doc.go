// Package sshsig signs and verifies as git does with gpg.format=ssh: the SSHSIG format of OpenSSH
// (PROTOCOL.sshsig), namespace "git", SHA-512. It knows no board and no repository: which key may
// sign is a rule of package board.
//
// It may import nothing of ours.
package sshsig
