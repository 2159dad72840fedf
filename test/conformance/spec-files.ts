/**
 * Test files of the drivers' Unified Test Format, read from a folder that is not part of this
 * repository.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BSON, type Document } from 'mongodb'

/** Servers on which a file or a test may run; all keys that are present must hold. */
export interface RunOnRequirement {
  readonly minServerVersion?: string
  readonly maxServerVersion?: string
  readonly topologies?: readonly string[]
  readonly serverParameters?: Document
  readonly serverless?: 'require' | 'forbid' | 'allow'
  readonly auth?: boolean
  readonly authMechanism?: string
  readonly csfle?: unknown
}

/** One operation of a test: a method of an entity, or of the test runner itself. */
export interface Operation {
  readonly name: string
  readonly object: string
  readonly arguments?: Document
  readonly expectResult?: unknown
  readonly expectError?: Document
  readonly ignoreResultAndError?: boolean
  readonly saveResultAsEntity?: string
}

export interface CollectionData {
  readonly databaseName: string
  readonly collectionName: string
  readonly createOptions?: Document
  readonly documents: readonly Document[]
}

export interface ExpectedEvents {
  readonly client: string
  readonly eventType?: 'command' | 'cmap' | 'sdam'
  readonly ignoreExtraEvents?: boolean
  readonly events: readonly Document[]
}

export interface ExpectedLogMessages {
  readonly client: string
  readonly ignoreExtraMessages?: boolean
  readonly ignoreMessages?: readonly Document[]
  readonly messages: readonly Document[]
}

export interface SpecTest {
  readonly description: string
  readonly runOnRequirements?: readonly RunOnRequirement[]
  readonly skipReason?: string
  readonly operations: readonly Operation[]
  readonly expectEvents?: readonly ExpectedEvents[]
  readonly expectLogMessages?: readonly ExpectedLogMessages[]
  readonly expectTracingMessages?: unknown
  readonly outcome?: readonly CollectionData[]
}

export interface SpecFile {
  readonly description: string
  readonly schemaVersion: string
  readonly runOnRequirements?: readonly RunOnRequirement[]
  readonly createEntities?: readonly Document[]
  readonly initialData?: readonly CollectionData[]
  readonly tests: readonly SpecTest[]
}

/** A file with its location. */
export interface LoadedFile {
  /**
   * First folder below the root, `crud` of `crud/unified/find.json`; the root's own name for files
   * in the root.
   */
  readonly folder: string
  /** Path relative to the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly file: SpecFile
}

/**
 * The folder that `npm test` reads: SHARDLAB_SPEC_DIR, or `../shared/conformance/spec` next to the
 * repository; null: it does not exist.
 */
export function defaultSpecFolder(): string | null {
  const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
  const folder = resolve(repository, process.env['SHARDLAB_SPEC_DIR'] ?? join('..', 'shared', 'conformance', 'spec'))
  return existsSync(folder) ? folder : null
}

/**
 * Reads every file in the unified format below `root`, ordered by path. Omits JSON files without
 * `schemaVersion`, which have older formats.
 * @throws Error with the path when a file is not JSON
 */
export function loadSpecFiles(root: string): LoadedFile[] {
  return pathsBelow(root).flatMap((full): LoadedFile[] => {
    const path = relative(root, full).split(sep).join('/')
    const text = readFileSync(full, 'utf8')
    let file: SpecFile
    try {
      file = BSON.EJSON.parse(text, { relaxed: true }) as SpecFile
    } catch (error) {
      throw new Error(`${full} is no Extended JSON`, { cause: error })
    }
    if (typeof file.schemaVersion !== 'string' || !Array.isArray(file.tests)) return []
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/')) : basename(resolve(root))
    return [{ folder, path, text, file }]
  })
}

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return pathsBelow(path)
      return entry.name.endsWith('.json') ? [path] : []
    })
}
