package audit

import "syscall"

// NetworkFilesystem names the network file system that a path lies on, or gives
// "" for a local one, or where it cannot tell. On a network file system the
// writer's lock holds only as far as the server and the mount options carry it.
func NetworkFilesystem(path string) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return ""
	}
	switch uint32(fs.Type) {
	case 0x6969:
		return "nfs"
	case 0xff534d42, 0xfe534d42, 0x517b:
		return "smb"
	case 0x01021997:
		return "9p"
	case 0x00c36400:
		return "ceph"
	case 0x5346414f:
		return "afs"
	}
	return ""
}
