import { folderOfName } from '../model/floors.js'
import { packageOfSpecifier } from '../model/imports.js'
import type { Finding, Repository, SourceFile } from '../model/repository.js'
import { calledImports, type Declaration } from '../model/calls.js'
import { isBuiltin } from './declared-dependencies.js'

/** A library that a package may ship with. */
export interface AllowedLibrary {
  readonly reason: string
  /** Names that may be imported; absent: all. */
  readonly names?: readonly string[]
  /** Options that may not be passed to its constructor. */
  readonly bannedOptions?: { readonly constructed: string; readonly options: readonly string[] }
}

/** p-queue arms real timers for these. */
const queueWithoutTimers = {
  constructed: 'PQueue',
  options: ['interval', 'intervalCap', 'timeout', 'carryoverConcurrencyCount', 'carryoverIntervalCount'],
}

/** Package to library to reason. Shipped source may import only libraries on this list. */
export const allowedLibraries: Readonly<Record<string, Readonly<Record<string, AllowedLibrary>>>> = {
  bson: {
    bson: { reason: 'BSON values as drivers know them; the only importer, everything else takes bytes' },
    '@noble/hashes': {
      reason: 'MD5 for hashed shard keys and SHA-256 for query shapes, bit exact and without node:crypto',
    },
  },
  auth: {
    '@noble/hashes': { reason: 'HMAC, SHA-1 and SHA-256 of SCRAM, without node:crypto' },
  },
  actor: {
    msgpackr: { reason: 'the envelope of messages, the same bytes in every runtime' },
    nanoid: { reason: 'ids that people type, drawn from a generator', names: ['customRandom'] },
  },
  storage: {
    'sorted-btree': { reason: 'ordered indexes with a clone in constant time' },
  },
  shard: {
    'p-queue': { reason: 'limits how many shards a coordinator talks to at a time', bannedOptions: queueWithoutTimers },
  },
  balancer: {
    'p-queue': {
      reason: 'limits how many migrations of a round are asked for at a time',
      bannedOptions: queueWithoutTimers,
    },
  },
  runtime: {
    '@mongodb-js/saslprep': { reason: 'SASLprep of passwords beyond ASCII, loaded with the first one' },
    snappy: { reason: 'OP_COMPRESSED with snappy; prebuilt, loaded when a client asks for it' },
    msgpackr: { reason: 'control messages between machines' },
    '@nats-io/transport-node': { reason: 'types of the connection that joins machines' },
  },
  nats: {
    '@nats-io/transport-node': { reason: 'the official client: reconnects, TLS, credentials' },
  },
  load: {
    mongodb: { reason: 'reaches any server: the engine driver, and preparing, loading and checking' },
    'hdr-histogram-js': { reason: 'latencies: histograms that can be merged and compared' },
    nanoid: { reason: 'ids of runs, which people see and type' },
    yaml: { reason: 'workload files, with the position of every node' },
    zod: { reason: 'what a workload file may say' },
  },
  jobs: {
    '@nats-io/jetstream': { reason: 'stored queues of jobs and results, loaded with the first one' },
    '@nats-io/transport-node': { reason: 'its errors and units of time' },
    msgpackr: { reason: 'messages of jobs, which every msgpack reader can read' },
    nanoid: { reason: 'names of runs, which people see and type' },
    piscina: { reason: 'jobs on the cores of a machine' },
  },
  dashboard: {
    'lit-html': { reason: 'templates of the page, which escape what they show; bundled into it' },
    uplot: { reason: 'charts over time of the page; bundled into it' },
    ws: { reason: 'WebSockets of the page, loaded when a dashboard is opened' },
  },
  cluster: {
    eventemitter3: { reason: 'events to people' },
    msgpackr: { reason: 'the header of snapshot files' },
    zod: { reason: 'faults as data: one schema for the API, the wire, the command line and files' },
  },
  unique: {
    mongodb: { reason: 'the official driver: it is how the library reaches any deployment' },
    eventemitter3: { reason: 'events to people' },
  },
  testing: {
    mongodb: { reason: 'loads dumps; follows the commands of the tested application' },
  },
  scenario: {
    yaml: { reason: 'scenario files, with the position of every node' },
    zod: { reason: 'what a scenario file may say' },
  },
  shardlab: {
    commander: { reason: 'the command line' },
    'cli-progress': { reason: 'how far a long command is, on a terminal' },
    yaml: { reason: 'configuration files of mongod, with positions of errors' },
    zod: { reason: 'what a topology file may say' },
  },
}

/** Required libraries: at least one package must ship with an import of each. */
export const requiredLibraries: readonly string[] = ['msgpackr', 'nanoid', 'eventemitter3', 'p-queue']

/** Required as soon as a package depends on them. */
export const requiredWhenDeclared: readonly string[] = ['piscina']

/** Shipped source imports only listed libraries, with the listed names and options. */
export function findForeignLibraries(repository: Repository, allowed = allowedLibraries): Finding[] {
  return repository.packages.flatMap((workspace) =>
    workspace.sources.flatMap((file) =>
      file.imports.flatMap(({ specifier, line, names }): Finding[] => {
        const name = packageOfSpecifier(specifier)
        if (specifier.startsWith('.') || isBuiltin(specifier) || folderOfName(name) !== undefined) return []
        const library = allowed[workspace.folder]?.[name]
        if (library === undefined) {
          return [
            {
              path: file.path,
              line,
              message: `'${name}' is not on the list of libraries of ${workspace.folder}: test/architecture/rules/libraries.ts wants a reason`,
            },
          ]
        }
        const unwanted =
          library.names === undefined
            ? []
            : (names ?? ['everything']).filter((imported) => !library.names!.includes(imported))
        return [
          ...unwanted.map((imported) => ({
            path: file.path,
            line,
            message: `of '${name}' only ${library.names!.join(', ')} may be imported, not ${imported}`,
          })),
          ...bannedOptionsOf(file, name, library),
        ]
      }),
    ),
  )
}

function bannedOptionsOf(file: SourceFile, name: string, { bannedOptions }: AllowedLibrary): Finding[] {
  if (bannedOptions === undefined) return []
  const findings: Finding[] = []
  const tokens = file.tokens
  tokens.forEach((token, i) => {
    if (token.text !== bannedOptions.constructed || tokens[i - 1]?.text !== 'new') return
    for (let j = i + 1, depth = 0; j < tokens.length; j++) {
      const { kind, text, line } = tokens[j]!
      if (kind === 'punctuation' && text === '(') depth++
      if (kind === 'punctuation' && text === ')' && --depth === 0) break
      if (kind === 'name' && bannedOptions.options.includes(text)) {
        findings.push({
          path: file.path,
          line,
          message: `the option ${text} of '${name}' arms a real timer: use ctx.setTimer or ctx.sleep`,
        })
      }
    }
  })
  return findings
}

/** Shipped source calls the required libraries, in code that is used. */
export function findMissingLibraries(repository: Repository): Finding[] {
  const declared = requiredWhenDeclared.filter((name) =>
    repository.packages.some(({ manifest }) => name in (manifest.dependencies ?? {})),
  )
  const sources = repository.packages.flatMap((workspace) => workspace.sources)
  return [...requiredLibraries, ...declared]
    .filter((library) => !sources.some((file) => usersOf(library, file).some((user) => isUsed(user, file, sources))))
    .map((name) => ({ path: 'packages', line: 0, message: `no shipped source that is used calls '${name}'` }))
}

/** The declarations of a file that call the library. */
function usersOf(library: string, file: SourceFile): Declaration[] {
  return file.imports.some(({ specifier }) => packageOfSpecifier(specifier) === library)
    ? calledImports(file.tokens, (specifier) => packageOfSpecifier(specifier) === library)
    : []
}

/** Whether the file itself names the declaration again, or another one imports it. */
function isUsed({ name }: Declaration, file: SourceFile, sources: readonly SourceFile[]): boolean {
  if (name === null) return true
  const mentions = file.tokens.filter((token) => token.kind === 'name' && token.text === name).length
  return (
    mentions > 1 || sources.some((other) => other !== file && other.imports.some(({ names }) => names?.includes(name)))
  )
}
