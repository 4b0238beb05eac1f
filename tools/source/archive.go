package source

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// IsArchive reports whether a file of this name is an archive that Unpack reads.
func IsArchive(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".skill") ||
		strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// Unpack unpacks an archive, a zip or a compressed tar, into a directory, which must not
// exist yet. If the archive holds a single directory and nothing else, only the directory's
// contents are unpacked.
func Unpack(archive, to string) error { return unpackAs(archive, filepath.Base(archive), to) }

// unpackAs is Unpack with another name for the archive in errors.
func unpackAs(archive, name, to string) error {
	err := unpack(archive, to)
	if err == nil {
		err = errors.Join(flatten(to), verify(to))
	}
	if err != nil {
		os.RemoveAll(to)
		return fmt.Errorf("the archive %s can't be used: %w", text.PrintableLine(name), err)
	}
	return nil
}

func unpack(archive, to string) error {
	f, err := disk.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	into, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer into.Close()
	magic := make([]byte, 2)
	if _, err := io.ReadFull(f, magic); err != nil {
		return errors.New("it is no archive")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if string(magic) == "PK" {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return unzip(f, info.Size(), into)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return errors.New("it is neither a zip nor a compressed tar")
	}
	return untar(z, into)
}

func unzip(r io.ReaderAt, size int64, into *os.Root) error {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return err
	}
	t := &tally{}
	for _, f := range z.File {
		name := path.Clean(f.Name)
		if err := within(cmp.Or(f.Name, ".")); err != nil {
			return err
		}
		if strings.HasSuffix(f.Name, "/") || f.Mode().IsDir() {
			if err := errors.Join(t.file(), into.MkdirAll(name, 0o755)); err != nil {
				return err
			}
			continue
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		switch {
		case f.Mode()&fs.ModeSymlink != 0:
			var target strings.Builder
			_, err = io.Copy(&target, io.LimitReader(in, 4096))
			err = errors.Join(err, t.link(into, name, target.String()))
		case f.Mode().IsRegular():
			err = t.put(into, name, f.Mode(), in)
		default:
			err = fmt.Errorf("%.80q is neither a file nor a directory", f.Name)
		}
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

func untar(r io.Reader, into *os.Root) error {
	t := &tally{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Clean(h.Name)
		if h.Typeflag != tar.TypeXGlobalHeader {
			if err := within(cmp.Or(h.Name, ".")); err != nil {
				return err
			}
		}
		switch h.Typeflag {
		case tar.TypeXGlobalHeader: // a comment of git
			err = t.file()
		case tar.TypeDir:
			err = errors.Join(t.file(), into.MkdirAll(name, 0o755))
		case tar.TypeReg:
			err = t.put(into, name, h.FileInfo().Mode(), in)
		case tar.TypeSymlink:
			err = t.link(into, name, h.Linkname)
		default:
			err = fmt.Errorf("%.80q is neither a file nor a directory", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

// flatten puts the files of a package's only directory into the package itself.
func flatten(to string) error {
	entries, err := os.ReadDir(to)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return err
	}
	away := to + ".flat"
	if err := os.Rename(filepath.Join(to, entries[0].Name()), away); err != nil {
		return err
	}
	return errors.Join(os.Remove(to), os.Rename(away, to))
}
