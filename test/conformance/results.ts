/**
 * The committed results of a run of all test files under every emulated version. The tables of
 * docs/reference/compatibility.md are made of them. They hold numbers only: the test files are not
 * part of this repository.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import type { FileResult, Report } from './runner.js'
import type { LoadedFile } from './spec-files.js'

export interface RecordedFile {
  /** Of the test file's text: a changed file needs another run. */
  readonly digest: string
  readonly results: Readonly<Record<EmulatedVersion, FileResult>>
}

/** By the path relative to the folder of the specification. */
export type RecordedFiles = Readonly<Record<string, RecordedFile>>

export const resultsPath = 'test/conformance/results.json'
const location = new URL('../../conformance/results.json', import.meta.url)

export function readResults(): RecordedFiles {
  return JSON.parse(readFileSync(location, 'utf8')) as RecordedFiles
}

/**
 * Writes the results of a complete run, one line for each file.
 * @throws Error when a report lacks a file
 */
export function writeResults(files: readonly LoadedFile[], reports: ReadonlyMap<EmulatedVersion, Report>): void {
  const lines = files.map(({ path, text }) => {
    const results = emulatedVersions.map((version) => {
      const result = reports.get(version)?.files[path]
      if (result === undefined) throw new Error(`the run under ${version} has no result of ${path}`)
      return [version, result] as const
    })
    const recorded = { digest: digestOf(text), results: Object.fromEntries(results) }
    return `  ${JSON.stringify(path)}: ${JSON.stringify(recorded)}`
  })
  writeFileSync(location, `{\n${lines.join(',\n')}\n}\n`)
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
