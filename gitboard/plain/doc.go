// Package plain makes text safe to show, on one line or several, and compares words and texts. What it
// returns holds no character that moves a cursor, or hides or reorders others.
//
// It is pure.
//
// It may import nothing of ours.
package plain
