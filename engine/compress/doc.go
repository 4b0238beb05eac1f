// Package compress keeps a conversation within what the model's context holds: it puts
// old outputs of tools into files, and leaves a preview of each.
//
// # Nothing is lost
//
// What is taken out of a conversation is in a file first, which the model can read.
//
// # Nothing is changed
//
// What is given stays as it is; what takes its place shares what is the same.
package compress
