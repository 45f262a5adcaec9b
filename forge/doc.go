// Package forge speaks to the hosts of pull requests: GitHub, GitLab, Gitea and Forgejo.
//
// It owns their HTTP interfaces, and the only HTTP that git liza sends beside alarms. It promises that
// a token is in no error and on no board, that a request is repeated only where the host cannot have
// acted on it, and that a limit of the host ends the work with the time when it may go on. It decides
// nothing about a board.
//
// It may import nothing of ours.
package forge
