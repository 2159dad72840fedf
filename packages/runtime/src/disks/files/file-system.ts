/**
 * What the disks in files use of the file system. Tests replace it by one that fails, is full, or
 * loses what was not flushed.
 */
import * as fs from 'node:fs'
import { makeFolder } from './make-folder.js'

export interface FileSystem {
  openSync(path: string, flags: 'r' | 'r+' | 'w+' | 'wx+'): number
  closeSync(fd: number): void
  readSync(fd: number, target: Uint8Array, offset: number, length: number, position: number): number
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number
  ftruncateSync(fd: number, length: number): void
  fsyncSync(fd: number): void
  sizeSync(path: string): number
  readFileSync(path: string): Uint8Array
  namesSync(folder: string): string[]
  mkdirSync(folder: string): void
  renameSync(from: string, to: string): void
  /** No error if there is no such file or folder. */
  removeSync(path: string): void
  /** Bytes that this user may still write. */
  freeBytesSync(folder: string): number
  /** Bytes that this process may still use. */
  freeMemorySync(): number
  fdatasync(fd: number, done: (error: Error | null) => void): void
  write(fd: number, bytes: Uint8Array, position: number, done: (error: Error | null, written: number) => void): void
}

/** Like a server's, files are for this user alone. */
export const realFileSystem: FileSystem = {
  openSync: (path, flags) => fs.openSync(path, flags, 0o600),
  closeSync: (fd) => fs.closeSync(fd),
  readSync: (fd, target, offset, length, position) => fs.readSync(fd, target, offset, length, position),
  writeSync: (fd, bytes, offset, length, position) => fs.writeSync(fd, bytes, offset, length, position),
  ftruncateSync: (fd, length) => fs.ftruncateSync(fd, length),
  fsyncSync: (fd) => fs.fsyncSync(fd),
  sizeSync: (path) => fs.statSync(path).size,
  readFileSync: (path) => fs.readFileSync(path),
  namesSync: (folder) => fs.readdirSync(folder),
  mkdirSync: (folder) => makeFolder(folder, 0o700),
  renameSync: (from, to) => fs.renameSync(from, to),
  removeSync: (path) => fs.rmSync(path, { recursive: true, force: true }),
  freeBytesSync(folder) {
    const { bavail, bsize } = fs.statfsSync(folder)
    return bavail * bsize
  },
  freeMemorySync: () => process.availableMemory(),
  fdatasync: (fd, done) => fs.fdatasync(fd, done),
  write: (fd, bytes, position, done) => fs.write(fd, bytes, 0, bytes.length, position, done),
}

/**
 * Without flushes: what is written survives the end of the process, in any way, but not a power
 * loss. Saves most of the time of a write, which is its flush.
 */
export const unflushedFileSystem: FileSystem = {
  ...realFileSystem,
  fsyncSync: () => {},
  fdatasync: (_fd, done) => done(null),
}

/** A created, renamed or removed file survives power loss only once its folder is flushed. */
export function syncFolder(files: FileSystem, folder: string): void {
  // Windows cannot open folders; there the file system keeps the order of such changes.
  if (process.platform === 'win32') return
  const fd = files.openSync(folder, 'r')
  try {
    files.fsyncSync(fd)
  } finally {
    files.closeSync(fd)
  }
}

export function writeFully(files: FileSystem, fd: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length;) at += files.writeSync(fd, bytes, at, bytes.length - at, position + at)
}

/** Replaces a small file at once: after a power loss it has the old or the new bytes. */
export function replaceFile(files: FileSystem, folder: string, name: string, bytes: Uint8Array): void {
  const temporary = `${folder}/${name}.tmp`
  const fd = files.openSync(temporary, 'w+')
  try {
    writeFully(files, fd, bytes, 0)
    files.fsyncSync(fd)
  } finally {
    files.closeSync(fd)
  }
  files.renameSync(temporary, `${folder}/${name}`)
  syncFolder(files, folder)
}

export function isNoSpace(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT'
}
