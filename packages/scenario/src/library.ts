import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OptionError } from '@shardlab/cluster'
import { suggestion } from '@shardlab/quantities'
import { parseDocument } from 'yaml'

export interface ListedScenario {
  readonly name: string
  readonly shows: string
  readonly path: string
}

const here = dirname(fileURLToPath(import.meta.url))
/** The checkout's folder, or the published package's. */
const directory = [join(here, '../../../../test/scenarios'), join(here, '../library')].find(existsSync)

/** Ordered by name. */
export function listScenarios(): ListedScenario[] {
  if (directory === undefined) return []
  return readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const path = join(directory, file)
      return {
        name: file.slice(0, -'.yaml'.length),
        shows: String(parseDocument(readFileSync(path, 'utf8')).get('shows') ?? ''),
        path,
      }
    })
}

/**
 * Reads the file at a path or, if there is none, the scenario with that name.
 * @throws OptionError if neither exists
 */
export function findScenario(nameOrPath: string): { readonly path: string; readonly text: string } {
  const listed = existsSync(nameOrPath) ? undefined : listScenarios().find(({ name }) => name === nameOrPath)
  try {
    return { path: listed?.name ?? nameOrPath, text: readFileSync(listed?.path ?? nameOrPath, 'utf8') }
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code
    const names = listScenarios().map(({ name }) => name)
    const meant = suggestion(nameOrPath, names)
    const known =
      names.length === 0
        ? '.'
        : `, and no scenario of the library has that name${meant === null ? ` (${names.join(', ')}).` : `; ${meant}`}`
    throw new OptionError(
      why === 'ENOENT'
        ? `there is no scenario file ${nameOrPath}${known}`
        : `${nameOrPath} cannot be read: ${why ?? String(error)}.`,
    )
  }
}
