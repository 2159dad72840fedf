import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Repository } from './repository.js'

/** The fields of a `CommandRow` that the checks and the compatibility page read. */
export interface Row {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly routing: string
  readonly access: string
  /** A text, a list, or a function of the arguments. */
  readonly privileges?: unknown
  readonly adminOnly?: boolean
  readonly manual: string
  readonly status: 'full' | 'partial'
  readonly missing?: string
  readonly lacks?: string
  readonly deviations?: readonly string[]
  readonly summary: string
}

/** A built module of a package. */
export interface BuiltModule {
  /** Of the source, relative to the root. */
  readonly path: string
  /** Null: not built. */
  readonly exports: Readonly<Record<string, unknown>> | null
}

/** Packages that serve commands, in the order of the page. */
export const servingPackages = ['mongos', 'shard', 'config-server', 'node', 'member'] as const

export interface CommandModules {
  readonly folder: string
  /** The package's entry. */
  readonly entry: BuiltModule
  /** Files in folders called `commands` or `rows`: one command each. */
  readonly rowFiles: readonly BuiltModule[]
}

export function isRow(value: unknown): value is Row {
  if (typeof value !== 'object' || value === null) return false
  const row = value as Partial<Record<string, unknown>>
  return (
    typeof row['name'] === 'string' &&
    typeof row['routing'] === 'string' &&
    typeof row['manual'] === 'string' &&
    typeof row['run'] === 'function'
  )
}

/** The command rows that one module exports directly. */
export const rowsOf = (module: BuiltModule): Row[] => Object.values(module.exports ?? {}).filter(isRow)

/**
 * The rows of every command table that a module exports: arrays of rows, and objects that hold one
 * as `rows`.
 */
export function exportedRows(exports: BuiltModule['exports']): Set<Row> {
  const rows = new Set<Row>()
  for (const value of Object.values(exports ?? {})) {
    const list = Array.isArray(value)
      ? value
      : typeof value === 'object' && value !== null && 'rows' in value
        ? value.rows
        : null
    if (Array.isArray(list)) for (const row of list) if (isRow(row)) rows.add(row)
  }
  return rows
}

async function load(root: string, path: string): Promise<BuiltModule> {
  const built = join(root, path.replace('/src/', '/dist/src/').replace(/\.ts$/, '.js'))
  return {
    path,
    exports: existsSync(built) ? ((await import(pathToFileURL(built).href)) as Record<string, unknown>) : null,
  }
}

/** Loads the files of `packages/member/src/specs`. */
export function loadSpecModules(repository: Repository, root: string): Promise<BuiltModule[]> {
  const paths = [...repository.files.keys()].filter((path) => path.startsWith('packages/member/src/specs/'))
  return Promise.all(paths.map((path) => load(root, path)))
}

/** Loads the built modules of the packages that serve commands. */
export async function loadCommandModules(repository: Repository, root: string): Promise<CommandModules[]> {
  return Promise.all(
    servingPackages.map(async (folder) => {
      const sources = repository.packages.find((workspace) => workspace.folder === folder)?.sources ?? []
      const rowPaths = sources
        .map(({ path }) => path)
        .filter((path) => /\/(commands|rows)\/[^/]+\.ts$/.test(path) && !path.endsWith('/index.ts'))
      return {
        folder,
        entry: await load(root, `packages/${folder}/src/index.ts`),
        rowFiles: await Promise.all(rowPaths.map((path) => load(root, path))),
      }
    }),
  )
}
