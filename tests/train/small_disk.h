#pragma once

#include <tests/data/files.h>
#include <string>

#if defined(__linux__)
#include <sys/mount.h>
#endif

/// A disk of a few kilobytes that can run full or turn read-only. Permissions would prove nothing: CI is
/// root.
struct SmallDisk {
  files::Folder folder;
  bool mounted = false;

  /// Linux and root only; otherwise `mounted` stays false and the test is to be skipped.
  explicit SmallDisk(int kilobytes) {
#if defined(__linux__)
    const std::string options = "size=" + std::to_string(kilobytes) + "k";
    mounted = mount("tmpfs", folder.path.c_str(), "tmpfs", 0, options.c_str()) == 0;
#else
    (void)kilobytes;
#endif
  }
  ~SmallDisk() {
#if defined(__linux__)
    if (mounted) umount2(folder.path.c_str(), MNT_DETACH);
#endif
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  void make_read_only() {
#if defined(__linux__)
    REQUIRE(mount("tmpfs", folder.path.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
#endif
  }

  void grow(int kilobytes) {
#if defined(__linux__)
    const std::string options = "size=" + std::to_string(kilobytes) + "k";
    REQUIRE(mount("tmpfs", folder.path.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) == 0);
#else
    (void)kilobytes;
#endif
  }

  /// Writes until nothing more fits.
  void fill() const {
    std::ofstream out(folder / "ballast", std::ios::binary | std::ios::app);
    while (out.put('x').flush()) {
    }
  }

  std::string operator/(const std::string& name) const { return folder / name; }
};
