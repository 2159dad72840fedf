/**
 * The floors of docs/ARCHITECTURE.md: imports go downward only, packages on one floor do not import
 * each other.
 */
export const floors: Readonly<Record<string, number>> = {
  bson: 0,
  quantities: 0,
  report: 0,
  query: 1,
  sharding: 2,
  wire: 2,
  auth: 2,
  storage: 3,
  actor: 3,
  member: 4,
  replication: 4,
  node: 5,
  shard: 6,
  'config-server': 6,
  mongos: 6,
  balancer: 6,
  runtime: 7,
  nats: 7,
  unique: 7,
  load: 7,
  dashboard: 7,
  cluster: 8,
  jobs: 8,
  scenario: 9,
  shardlab: 10,
  testing: 10,
}

/** Floors up to this one are deterministic: same state, same messages, same clock, same output. */
export const topDeterministicFloor = 6

/**
 * Packages that reach a cluster through the official driver only, with the packages of ours that
 * they may import.
 */
export const onlyOfOurs: Readonly<Record<string, readonly string[]>> = {
  unique: [],
  load: ['bson', 'quantities', 'report'],
}

/** Packages of lower floors that the shipped source of a package does not import; its tests may. */
export const notImported: Readonly<Record<string, readonly string[]>> = {
  member: ['storage'],
  mongos: ['node', 'storage'],
}

/** The published name of a package folder. */
export const publishedName = (folder: string): string => (folder === 'shardlab' ? 'shardlab' : `@shardlab/${folder}`)

/** The folder of a published name; undefined for a package that is not ours. */
export const folderOfName = (name: string): string | undefined =>
  name === 'shardlab' ? 'shardlab' : name.startsWith('@shardlab/') ? name.slice('@shardlab/'.length) : undefined
