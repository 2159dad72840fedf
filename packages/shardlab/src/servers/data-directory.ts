/**
 * The folder of `--dbpath`. Data is held in memory, so it has the lock file alone, by which two
 * servers do not take one folder for theirs. Server: storage_engine_lock_file.cpp.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** @returns the server's error; null: the folder is this server's */
export function claimDataDirectory(path: string): string | null {
  if (!isFolder(path))
    return `NonExistentPath: Data directory ${path} not found. Create the missing directory or specify another path using (1) the --dbpath command line option, or (2) by adding the 'storage.dbPath' option in the configuration file.`
  const file = join(path, 'mongod.lock')
  if (isHeld(file))
    return `DBPathInUse: Unable to lock the lock file: ${file} (Resource temporarily unavailable). Another mongod instance is already running on the ${path} directory`
  try {
    writeFileSync(file, `${process.pid}\n`)
  } catch {
    return `IllegalOperation: Attempted to create a lock file on a read-only directory: ${path}`
  }
  return null
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** By a server that runs. */
function isHeld(file: string): boolean {
  const pid = Number(read(file) ?? '')
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // The system may have given the number to another program since.
  const name = read(`/proc/${pid}/comm`)
  return name === null || name.trim() === 'mongod'
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
