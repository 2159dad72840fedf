/** Small files of a durable cluster: one line of JSON, and a line with its checksum. */
import { crc32 } from 'node:zlib'
import { DiskDamagedError } from './disk-damaged-error.js'
import { replaceFile, type FileSystem } from './file-system.js'

export function encodeChecked(value: unknown): Buffer {
  const text = `${JSON.stringify(value)}\n`
  return Buffer.from(`${text}${crc32(text).toString(16).padStart(8, '0')}\n`)
}

/** @throws DiskDamagedError */
export function decodeChecked(bytes: Uint8Array, path: string): unknown {
  const text = Buffer.from(bytes).toString('latin1')
  const end = text.indexOf('\n') + 1
  const checked = Buffer.from(bytes).subarray(0, end)
  if (end === 0 || text.slice(end) !== `${crc32(checked).toString(16).padStart(8, '0')}\n`)
    throw new DiskDamagedError(path, null, 'the checksum is wrong')
  return JSON.parse(checked.toString('utf8'))
}

export function writeChecked(files: FileSystem, folder: string, name: string, value: unknown): void {
  replaceFile(files, folder, name, encodeChecked(value))
}

/** undefined: there is no such file. @throws DiskDamagedError */
export function readChecked(files: FileSystem, folder: string, name: string): unknown {
  if (!files.namesSync(folder).includes(name)) return undefined
  const path = `${folder}/${name}`
  return decodeChecked(files.readFileSync(path), path)
}
