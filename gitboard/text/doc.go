// Package text makes text safe to display, on one line or several, and compares words and texts.
// The text it returns contains no character that moves a cursor, or that hides or reorders others.
//
// It is pure.
//
// It may import nothing of ours.
package text
