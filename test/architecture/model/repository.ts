import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { floors, publishedName, topDeterministicFloor } from './floors.js'
import { importsOf, type Import } from './imports.js'
import { tokenize, type Token } from './tokens.js'

/** A violation of a rule. */
export interface Finding {
  readonly path: string
  /** From 1; 0: the file as a whole. */
  readonly line: number
  readonly message: string
}

/** A text file; its path is relative to the root and has forward slashes. */
export class SourceFile {
  readonly path: string
  readonly text: string
  #tokens: readonly Token[] | undefined
  #imports: readonly Import[] | undefined

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
  }

  get tokens(): readonly Token[] {
    return (this.#tokens ??= tokenize(this.text, this.path))
  }

  get imports(): readonly Import[] {
    return (this.#imports ??= importsOf(this.tokens))
  }
}

/** The fields of package.json that rules read. */
export interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  /** Packages that the project of a user installs. */
  readonly peerDependencies?: Readonly<Record<string, string>>
  /** Published files and folders. */
  readonly files?: readonly string[]
  /** Entries: `.`, and further ones such as `./server`. */
  readonly exports?: Readonly<Record<string, unknown>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** A folder of `packages/`, or `test`. */
export interface Workspace {
  /** Name of the folder. */
  readonly folder: string
  /** `packages/bson`, `test`. */
  readonly path: string
  /** Undefined: not in the table, or the `test` workspace. */
  readonly floor: number | undefined
  readonly manifest: Manifest
  /** Folders that tsconfig.json refers to, by their last name. */
  readonly references: readonly string[]
  /** Shipped source files. */
  readonly sources: readonly SourceFile[]
  readonly tests: readonly SourceFile[]
}

/** The texts of a checkout, or of a fixture. */
export class Repository {
  readonly files: ReadonlyMap<string, SourceFile>
  readonly packages: readonly Workspace[]
  readonly test: Workspace
  readonly rootManifest: Manifest

  /** @param texts path to content, paths relative to the root */
  constructor(texts: Readonly<Record<string, string>>) {
    this.files = new Map(Object.entries(texts).map(([path, text]) => [path, new SourceFile(path, text)]))
    this.rootManifest = JSON.parse(texts['package.json'] ?? '{}') as Manifest
    const folders = new Set(
      [...this.files.keys()].filter((path) => path.startsWith('packages/')).map((path) => path.split('/')[1]!),
    )
    this.packages = [...folders].sort().map((folder) => this.#workspace(`packages/${folder}`, folder))
    this.test = this.#workspace('test', 'test')
  }

  /** Packages whose floors are deterministic. */
  get deterministicPackages(): readonly Workspace[] {
    return this.packages.filter(
      (workspace) => workspace.floor !== undefined && workspace.floor <= topDeterministicFloor,
    )
  }

  /** TypeScript files below a folder. */
  #sourcesBelow(folder: string): SourceFile[] {
    return [...this.files.values()].filter((file) => file.path.startsWith(`${folder}/`) && file.path.endsWith('.ts'))
  }

  #workspace(path: string, folder: string): Workspace {
    const manifestText = this.files.get(`${path}/package.json`)?.text ?? JSON.stringify({ name: publishedName(folder) })
    const config = JSON.parse(this.files.get(`${path}/tsconfig.json`)?.text ?? '{}') as {
      references?: { path: string }[]
    }
    return {
      folder,
      path,
      floor: folder === 'test' ? undefined : floors[folder],
      manifest: JSON.parse(manifestText) as Manifest,
      references: (config.references ?? []).map((reference) => reference.path.split('/').at(-1)!),
      sources: folder === 'test' ? [] : this.#sourcesBelow(`${path}/src`),
      tests: this.#sourcesBelow(folder === 'test' ? path : `${path}/test`),
    }
  }
}

/** The folder above this file that holds the workspace's package.json. */
export function findRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest) && (JSON.parse(readFileSync(manifest, 'utf8')) as Manifest).name === 'shardlab-workspace')
      return folder
    if (dirname(folder) === folder) throw new Error('the root of the workspace is not above this file')
  }
}

const readableFile = /(?:\.(?:ts|mjs|md)|^(?:package|tsconfig)\.json)$/
const skippedFolders = new Set(['node_modules', 'dist'])

/** Reads the files that rules check: packages, test, scripts and docs. */
export function readRepository(root: string = findRoot()): Repository {
  const texts: Record<string, string> = {}
  for (const path of ['package.json', 'README.md'])
    if (existsSync(join(root, path))) texts[path] = readFileSync(join(root, path), 'utf8')
  const visit = (folder: string): void => {
    if (!existsSync(join(root, folder))) return
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name) && !entry.name.startsWith('.')) visit(path)
      } else if (readableFile.test(entry.name)) texts[path] = readFileSync(join(root, path), 'utf8')
    }
  }
  for (const folder of ['packages', 'test', 'scripts', 'docs']) visit(folder)
  return new Repository(texts)
}
