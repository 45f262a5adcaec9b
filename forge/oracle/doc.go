// Package oracle holds package forge and package receipt against the work of others: GitHub's description of its
// interface, GitLab's client, and a library for DSSE. It is a module of its own, so that git liza needs none of them.
package oracle
